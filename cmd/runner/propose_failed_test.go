package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/settings"
)

// What a rule approved and nobody is there to carry out is told by its failure, not by the rule that let it pass.
func TestProposalThatFailsAtOnceSaysWhy(t *testing.T) {
	home := inHome(t)
	p := startHubCommand(t, filepath.Join(home, ".local", "share", "runner", "hub"), settings.Hub{Listen: "127.0.0.1:0"})
	folder := filepath.Join(home, "shop")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "permissions.json"), []byte(`{"allow": ["Terminal(git status)"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errOut := runs(t, "project", "add", folder); code != exitOK {
		t.Fatal(errOut)
	}
	_, _, errOut := runs(t, "propose", "terminal", "--project", "shop", "--", "git", "status")
	if !strings.Contains(errOut, "failed: "+string(failure.NoRunner)) {
		t.Errorf("%q", errOut)
	}
	p.stop()
	if err := <-p.done; err != nil {
		t.Error(err)
	}
}
