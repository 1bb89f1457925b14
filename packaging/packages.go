package main

import (
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // the two kinds register themselves
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"

	"brabo.dev/runner/service"
)

// scripts are what the package managers run. Both kinds of package have the same.
//
//go:embed scripts
var scripts embed.FS

// stopGrace is how long a stop may take with the daemon's own settings; one who sets a longer drain has it extended.
const stopGrace = 27 * time.Second

const description = `local agent daemon: runs what people approved
runner executes, on this machine, the actions of AI agents that people or
their rules approved, and answers each with a result or a named failure.
.
Nothing is enabled or started by this package: each person runs "runner up",
or an administrator enables runner@NAME.service for the account NAME.
Removing the package keeps everybody's keys, settings and state; purging it
removes them.`

// writeUnitAndScripts puts what only packages need into the stage.
func (r release) writeUnitAndScripts(d documents) error {
	if err := os.WriteFile(d.unit, []byte(service.Template("/usr/bin/runner", stopGrace)), 0o644); err != nil {
		return err
	}
	if err := os.MkdirAll(d.scripts, 0o755); err != nil {
		return err
	}
	names, err := scripts.ReadDir("scripts")
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := scripts.ReadFile("scripts/" + name.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(d.scripts, name.Name()), text, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// packages makes the deb and the rpm of a target.
func (r release) packages(t target, binary, bom, stage string, d documents) ([]string, error) {
	manual, err := r.compressed(d.manual, filepath.Join(stage, "man"))
	if err != nil {
		return nil, err
	}
	var made []string
	for _, kind := range []string{"deb", "rpm"} {
		info := r.info(t)
		if kind == "rpm" { // whose empty lines are empty
			info.Description = strings.ReplaceAll(info.Description, "\n.\n", "\n\n")
		}
		info.Contents = r.contents(kind, binary, bom, manual, d)
		info.Scripts = nfpm.Scripts{
			PostInstall: filepath.Join(d.scripts, "postinstall.sh"), PreRemove: filepath.Join(d.scripts, "preremove.sh"),
			PostRemove: filepath.Join(d.scripts, "postremove.sh"),
		}
		packager, err := nfpm.Get(kind)
		if err != nil {
			return nil, err
		}
		if err := nfpm.PrepareForPackager(info, kind); err != nil {
			return nil, fmt.Errorf("preparing the %s: %w", kind, err)
		}
		path := filepath.Join(r.out, packager.ConventionalFileName(info))
		if err := writeFile(path, func(w io.Writer) error { return packager.Package(info, w) }); err != nil {
			return nil, err
		}
		made = append(made, path)
	}
	return made, nil
}

func (r release) info(t target) *nfpm.Info {
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "runner", Arch: t.arch, Platform: "linux", Version: r.version, MTime: r.when, DisableGlobbing: true,
		Section: "utils", Priority: "optional", License: "MIT", Homepage: "https://brabo.dev/runner",
		Maintainer: "Runner maintainers <runner@brabo.dev>", Vendor: "brabo.dev", Description: description,
		Overridables: nfpm.Overridables{Umask: 0o022, Recommends: []string{"git", "bash"}},
	})
	info.RPM.BuildHost = "localhost" // the build's own name must not get in
	info.RPM.Summary, _, _ = strings.Cut(description, "\n")
	return info
}

func (r release) contents(kind, binary, bom string, manual []string, d documents) files.Contents {
	zsh := "/usr/share/zsh/vendor-completions/_runner"
	if kind == "rpm" {
		zsh = "/usr/share/zsh/site-functions/_runner"
	}
	var all files.Contents
	add := func(source, destination string, mode os.FileMode) {
		all = append(all, &files.Content{Source: source, Destination: destination, FileInfo: &files.ContentFileInfo{
			Owner: "root", Group: "root", Mode: mode, MTime: r.when,
		}})
	}
	add(binary, "/usr/bin/runner", 0o755)
	add(d.unit, "/usr/lib/systemd/system/runner@.service", 0o644)
	add(d.bash, "/usr/share/bash-completion/completions/runner", 0o644)
	add(d.zsh, zsh, 0o644)
	add(d.fish, "/usr/share/fish/vendor_completions.d/runner.fish", 0o644)
	add(d.license, "/usr/share/doc/runner/copyright", 0o644)
	add(d.readme, "/usr/share/doc/runner/README.md", 0o644)
	add(bom, "/usr/share/doc/runner/sbom.spdx.json", 0o644)
	for _, page := range manual {
		add(page, "/usr/share/man/man1/"+filepath.Base(page), 0o644)
	}
	return all
}

// compressed gives the pages as packages carry them.
func (r release) compressed(pages []string, folder string) ([]string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	var all []string
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(folder, filepath.Base(page)+".gz")
		err = writeFile(path, func(w io.Writer) error {
			zipped, err := gzip.NewWriterLevel(w, gzip.BestCompression)
			if err != nil {
				return err
			}
			if _, err := zipped.Write(text); err != nil {
				return err
			}
			return zipped.Close()
		})
		if err != nil {
			return nil, err
		}
		all = append(all, path)
	}
	return all, nil
}
