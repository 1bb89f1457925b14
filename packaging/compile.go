package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// target is a system and a processor as Go names them.
type target struct{ system, arch string }

func (t target) suffix() string {
	if t.system == "windows" {
		return ".exe"
	}
	return ""
}

// compile builds the product for t. Paths of this machine are trimmed away, and C is left out, whose compiler would be
// this machine's; the commit is stamped where there is a repository.
func (r release) compile(ctx context.Context, t target, path string) error {
	return r.compileTagged(ctx, []string{"GOOS=" + t.system, "GOARCH=" + t.arch}, "", path)
}

func (r release) compileTagged(ctx context.Context, env []string, tags, path string) error {
	stamp := "false"
	if _, err := output(ctx, r.root, "git", "rev-parse", "HEAD"); err == nil {
		stamp = "true"
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs="+stamp, "-tags", tags,
		"-ldflags", "-s -w -X main.version="+r.version, "-o", path, "./cmd/runner")
	cmd.Dir = r.root
	// Settings of this machine that change what is built must not reach it.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOWORK=off")
	cmd.Env = append(cmd.Env, env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// documents are the files that every target has, each by its path in the stage.
type documents struct {
	license, readme string
	bash, zsh, fish string
	powershell      string
	manual          []string // pages, sorted
	unit            string   // the template unit of systemd
	scripts         string   // folder of the packages' scripts
}

// documents has the program itself write its manual and completions, so that they are those of the commands.
func (r release) documents(ctx context.Context, stage string) (documents, error) {
	d := documents{
		license: filepath.Join(r.root, "LICENSE"), readme: filepath.Join(r.root, "README.md"),
		bash: filepath.Join(stage, "runner.bash"), zsh: filepath.Join(stage, "_runner"), fish: filepath.Join(stage, "runner.fish"),
		powershell: filepath.Join(stage, "runner.ps1"),
		unit:       filepath.Join(stage, "runner@.service"), scripts: filepath.Join(stage, "scripts"),
	}
	pages := filepath.Join(stage, "man")
	if err := os.MkdirAll(pages, 0o755); err != nil {
		return d, err
	}
	program := filepath.Join(stage, "runner-manual")
	if err := r.compileTagged(ctx, nil, "manual", program); err != nil {
		return d, err
	}
	if _, err := output(ctx, stage, program, "manual", pages, fmt.Sprintf("--date=%d", r.when.Unix())); err != nil {
		return d, err
	}
	manual, err := filepath.Glob(filepath.Join(pages, "*.1"))
	if err != nil {
		return d, err
	}
	d.manual = manual
	for shell, path := range map[string]string{"bash": d.bash, "zsh": d.zsh, "fish": d.fish, "powershell": d.powershell} {
		script, err := output(ctx, stage, program, "completion", shell)
		if err != nil {
			return d, err
		}
		if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
			return d, err
		}
	}
	return d, r.writeUnitAndScripts(d)
}
