// Needs node, npm and script(1): plays the story with the daemon and with a client on the phoenix package.
package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestBothClientsPlayTheStory(t *testing.T) {
	for _, program := range []string{"node", "npm", "script"} {
		if _, err := exec.LookPath(program); err == nil {
			continue
		}
		if os.Getenv("RUNNER_TEST_REQUIRE") == "1" {
			t.Fatalf("%s is missing, and every component is required", program)
		}
		t.Skipf("%s is not installed", program)
	}
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out, progress strings.Builder
	parts := story(1, 3)
	if err := comparePeers(t.Context(), root, parts, &out, &progress); err != nil {
		if strings.Contains(err.Error(), "installing the client's modules") && os.Getenv("RUNNER_TEST_REQUIRE") != "1" {
			t.Skip(err)
		}
		t.Fatalf("%v\n%s", err, &progress)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(parts)+1 || !strings.Contains(lines[0], "runner") || !strings.Contains(lines[0], "phoenix package") {
		t.Errorf("%s", &out)
	}
	for i, p := range parts {
		if fields := strings.Fields(strings.TrimPrefix(lines[i+1], p.text)); len(fields) != 5 || fields[1] != p.unit || fields[3] != p.unit {
			t.Errorf("%q", lines[i+1])
		}
	}
}

// TestStoryHasItsStepsInOrder holds the story against what it is to tell.
func TestStoryHasItsStepsInOrder(t *testing.T) {
	steps := []string{
		"start to joined", "true, proposed to outcome", "100 commands at once", "100 MB of output",
		"idle", "key typed to its echo", "joined again after the hub's restart",
	}
	for _, p := range story(1, 1) {
		if len(steps) > 0 && strings.Contains(p.text, steps[0]) {
			steps = steps[1:]
		}
	}
	if len(steps) > 0 {
		t.Errorf("the story lacks, or has too early, %q", steps)
	}
}
