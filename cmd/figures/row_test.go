package main

import (
	"os/exec"
	"regexp"
	"testing"
)

// TestOneRowIsMeasuredForReal types the README's command, narrowed to the cheapest row.
func TestOneRowIsMeasuredForReal(t *testing.T) {
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", "./cmd/figures", "--short", "--only", "decide, a simple command")
	cmd.Dir = root
	out, err := cmd.Output()
	row := regexp.MustCompile(`(?m)^\W*decide, a simple command .*\d+(\.\d+)? µs .*at most 10 µs.* (met|not met)\W*$`)
	if err != nil || !row.Match(out) {
		t.Errorf("%v: %s", err, out)
	}
}
