package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"brabo.dev/runner/runner/machinepolicy"
	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/runner/policy"
	"brabo.dev/runner/runner/redact"
	"brabo.dev/runner/runner/settings"
)

// TestEveryCommandSteersOrIsHarmless: a new command has to be sorted, and those that steer are refused to actions.
func TestEveryCommandSteersOrIsHarmless(t *testing.T) {
	harmless := []string{
		"completion", "confined", "demo", "doctor", "events", "help", "history", "logs", "mcp", "pending", "propose", "status", "version", "whoami",
	}
	for _, c := range newRootCommand().Commands() {
		if steers := slices.Contains(steering[:], c.Name()); steers == slices.Contains(harmless, c.Name()) {
			t.Errorf("%s is in both lists or in none", c.Name())
		}
	}
	inHome(t)
	_, src, err := loadSettings()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range steering {
		command := "runner " + name
		a := policy.Action{Type: "terminal", Command: command, Cwd: "/work"}
		if policy.NewRecheck(a, policy.Permissions{}, policy.Context{ScopeRoot: "/work"}).Steers(protected(src)) == "" {
			t.Errorf("%q may be called by actions", command)
		}
	}
}

// TestDaemonKnowsTheRulesOfTheWholeMachine, so that no command may name them.
func TestDaemonKnowsTheRulesOfTheWholeMachine(t *testing.T) {
	inHome(t)
	values, src, err := loadSettings()
	if err != nil {
		t.Fatal(err)
	}
	h, err := newHost(values, src, "http://127.0.0.1:1", pairing.Token{Secret: settings.NewSecret(testToken)}, &redact.Known{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	o, err := h.options()
	want := filepath.ToSlash(machinepolicy.ManagedFile(os.Getenv("ProgramData")))
	if err != nil || want == "" || o.Managed != want {
		t.Errorf("%q, %v", o.Managed, err)
	}
}
