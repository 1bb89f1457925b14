package doctor

import (
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"

	"brabo.dev/runner/containerctl"
	"brabo.dev/runner/exec"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/workspace"
)

// Machine is what commands and containers stand on.
type Machine struct {
	Shell    []string // words of commands.shell
	Path     string   // the PATH that commands get
	Discover func(context.Context) (*containerctl.Engine, error)
	// Root is the project folder, or the base of many; empty where neither is known.
	Root   string
	Folder workspace.Options
}

// Checks are the engine, the folder, the shell and the PATH.
func (m Machine) Checks() []Check {
	return []Check{{"engine", m.engine}, {"folder", m.folder}, {"shell", m.shell}, {"path", m.path}}
}

// engine only warns: who starts no containers needs none.
func (m Machine) engine(ctx context.Context) (string, error) {
	engine, err := m.Discover(ctx)
	if err != nil {
		return "", Warning(failure.From(err, "container engine"))
	}
	defer engine.Close()
	facts := engine.Facts()
	return facts.String(), nil
}

// folder applies the rules of a project root; the probe is written only into a folder that is there.
func (m Machine) folder(context.Context) (string, error) {
	if m.Root == "" {
		return "none is set for all projects; that of each is tested when it is joined", nil
	}
	if _, err := os.Stat(m.Root); err != nil {
		if err := workspace.Permitted(m.Root, m.Folder); err != nil {
			return "", err
		}
		return m.Root + " is not there yet and will be made", nil
	}
	if _, err := workspace.Materialize(m.Root, m.Folder); err != nil {
		return "", err
	}
	return m.Root + " can be written", nil
}

func (m Machine) shell(ctx context.Context) (string, error) {
	shell, err := exec.FindShell(m.Shell)
	if err != nil {
		return "", err
	}
	r := exec.Run(ctx, exec.Command{Text: "true", Shell: shell, PlainPOSIX: func(string) bool { return true }, Dir: os.TempDir(), Env: []string{"PATH=" + m.Path}})
	if r.Failure != nil {
		return "", r.Failure
	}
	if !shell.Bash {
		return "", Warning(failure.New(failure.BashMissing, shell.Path).Because("it is no bash, so only plain POSIX text runs"))
	}
	return shell.Path + " runs", nil
}

// path looks for what makes a service's PATH poor: folders that are not there, relative ones, and no git.
func (m Machine) path(context.Context) (string, error) {
	var odd []string
	git := ""
	folders := filepath.SplitList(m.Path)
	for _, dir := range folders {
		if !filepath.IsAbs(dir) {
			odd = append(odd, fmt.Sprintf("%q is not absolute", dir))
			continue
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue // harmless, and usual
		}
		if found, err := osexec.LookPath(filepath.Join(dir, "git")); err == nil && git == "" {
			git = found
		}
	}
	switch {
	case len(folders) == 0:
		return "", Warning(failure.New(failure.PathPoor, "PATH").Because("it is empty"))
	case len(odd) > 0:
		return "", Warning(failure.New(failure.PathPoor, "PATH").Because("%s", strings.Join(odd, "; ")))
	case git == "":
		return "", Warning(failure.New(failure.PathPoor, "PATH").Because("there is no git in %s", m.Path))
	}
	return m.Path, nil
}
