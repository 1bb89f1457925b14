package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// allTargets are the systems and processors that a release is for.
var allTargets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// release is one version on its way from the sources to the files that people install.
type release struct {
	root    string    // of the module
	version string    // without a leading v
	when    time.Time // the time in all files
	out     string    // folder of the results
}

// versionForm is what deb, rpm and Go's tools all understand as a version.
var versionForm = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`)

// build makes every file of the release for the given targets and gives their paths.
func (r release) build(ctx context.Context, targets []string) ([]string, error) {
	if !versionForm.MatchString(r.version) {
		return nil, fmt.Errorf("%q is no version such as 1.2.3 or 1.2.3-rc.1", r.version)
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder of the results: %w", err)
	}
	stage, err := os.MkdirTemp("", "runner-packaging-")
	if err != nil {
		return nil, fmt.Errorf("making a folder to work in: %w", err)
	}
	defer os.RemoveAll(stage)
	shared, err := r.documents(ctx, filepath.Join(stage, "shared"))
	if err != nil {
		return nil, err
	}
	var files []string
	for _, name := range targets {
		if !slices.Contains(allTargets, name) {
			return nil, fmt.Errorf("there is no target %q; the targets are %s", name, strings.Join(allTargets, ", "))
		}
		system, arch, _ := strings.Cut(name, "/")
		made, err := r.target(ctx, target{system, arch}, filepath.Join(stage, system+"_"+arch), shared)
		if err != nil {
			return nil, fmt.Errorf("building for %s: %w", name, err)
		}
		files = append(files, made...)
	}
	sums, err := r.sums(files)
	if err != nil {
		return nil, err
	}
	return append(files, sums), nil
}

// target makes the files of one target.
func (r release) target(ctx context.Context, t target, stage string, shared documents) ([]string, error) {
	binary := filepath.Join(stage, "runner"+t.suffix())
	if err := r.compile(ctx, t, binary); err != nil {
		return nil, err
	}
	bom := filepath.Join(r.out, fmt.Sprintf("runner_%s_%s_%s.spdx.json", r.version, t.system, t.arch))
	if err := r.bill(binary, t, bom); err != nil {
		return nil, err
	}
	archive, err := r.archive(t, binary, bom, shared)
	if err != nil {
		return nil, err
	}
	files := []string{bom, archive}
	if t.system == "linux" {
		packages, err := r.packages(t, binary, bom, stage, shared)
		if err != nil {
			return nil, err
		}
		files = append(files, packages...)
	}
	return files, nil
}

// sums writes the file that sha256sum -c reads.
func (r release) sums(files []string) (string, error) {
	var b strings.Builder
	slices.SortFunc(files, func(x, y string) int { return strings.Compare(filepath.Base(x), filepath.Base(y)) })
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		hash := sha256.New()
		_, err = io.Copy(hash, f)
		f.Close()
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", path, err)
		}
		fmt.Fprintf(&b, "%s  %s\n", hex.EncodeToString(hash.Sum(nil)), filepath.Base(path))
	}
	path := filepath.Join(r.out, "SHA256SUMS")
	return path, os.WriteFile(path, []byte(b.String()), 0o644)
}

// moduleRoot is the folder of the module that is built.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := output(ctx, "", "go", "list", "-m", "-f", "{{.Dir}}")
	return strings.TrimSpace(out), err
}

// sourceDate is the time in all files: epoch, in seconds since 1970, else that of the commit at root.
func sourceDate(ctx context.Context, root, epoch string) (time.Time, error) {
	if epoch == "" {
		out, err := output(ctx, root, "git", "log", "-1", "--format=%ct")
		if err != nil {
			return time.Time{}, fmt.Errorf("finding the time of the commit; SOURCE_DATE_EPOCH says it where there is no repository: %w", err)
		}
		epoch = strings.TrimSpace(out)
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the time %q: %w", epoch, err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// output runs a program in dir and gives what it prints; its own words are in the error.
func output(ctx context.Context, dir, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	var words strings.Builder
	cmd.Stderr = &words
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", program, err, strings.TrimSpace(words.String()))
	}
	return string(out), nil
}
