package main

import (
	"slices"
	"testing"

	"brabo.dev/runner/runner/policy"
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
