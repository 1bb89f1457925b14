package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRootRPMContent needs rpm: it installs the package below a folder of its own, looks, and removes it.
func TestRootRPMContent(t *testing.T) {
	asRoot(t)
	if _, err := exec.LookPath("rpm"); err != nil {
		missing(t, "rpm is not installed")
	}
	root := t.TempDir()
	rpm := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "rpm", append([]string{"--root", root}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("rpm %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	file := filepath.Join(here.of(t, "1.0.0"), "runner-1.0.0-1.x86_64.rpm")
	rpm("--initdb")
	// Without scripts: the folder has no shell that they could run in.
	rpm("--install", "--nodeps", "--noscripts", file)
	list := strings.Fields(rpm("--query", "--list", "runner"))
	for _, want := range []string{
		"/usr/bin/runner", "/usr/lib/systemd/system/runner@.service", "/usr/share/bash-completion/completions/runner",
		"/usr/share/zsh/site-functions/_runner", "/usr/share/fish/vendor_completions.d/runner.fish",
		"/usr/share/man/man1/runner.1.gz", "/usr/share/man/man1/runner-service-install.1.gz",
		"/usr/share/doc/runner/copyright", "/usr/share/doc/runner/sbom.spdx.json",
	} {
		if _, err := os.Stat(filepath.Join(root, want)); err != nil || !slices.Contains(list, want) {
			t.Errorf("%s is not there: %v", want, err)
		}
	}
	for _, path := range list {
		if strings.HasPrefix(path, "/etc") || strings.Contains(path, ".wants") {
			t.Errorf("%s would enable or configure something", path)
		}
	}
	if verified := rpm("--verify", "runner"); verified != "" {
		t.Errorf("not as packed: %s", verified)
	}
	if shown := rpm("--query", "--scripts", "runner"); strings.Count(shown, "systemctl") < 5 {
		t.Errorf("the scripts are not in:\n%s", shown)
	}
	if shown := rpm("--query", "--info", "runner"); !strings.Contains(shown, "named failure.\n\nNothing is enabled") {
		t.Errorf("it describes itself as:\n%s", shown)
	}
	version, err := exec.Command(filepath.Join(root, "usr/bin/runner"), "version").Output()
	if err != nil || !strings.HasPrefix(string(version), "runner 1.0.0 ") {
		t.Errorf("version: %s, %v", version, err)
	}
	rpm("--erase", "--noscripts", "runner")
	if _, err := os.Stat(filepath.Join(root, "usr/bin/runner")); !os.IsNotExist(err) {
		t.Errorf("after the removal: %v", err)
	}
}
