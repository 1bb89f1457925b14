package main

import (
	"os/exec"
	"regexp"
	"testing"
)

// TestOneRowIsMeasuredForReal types the README's command, narrowed to a row that takes seconds.
func TestOneRowIsMeasuredForReal(t *testing.T) {
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", "./cmd/figures", "--short", "--only", "hub, proposed to outcome without")
	cmd.Dir = root
	out, err := cmd.Output()
	row := regexp.MustCompile(`(?m)^\W*hub, proposed to outcome without .*\d ms .*at most 5 ms.* (met|not met)\W*$`)
	if err != nil || !row.Match(out) {
		t.Errorf("%v: %s", err, out)
	}
}
