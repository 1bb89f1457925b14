package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
)

// stateOf is the state folder of all daemons whose home is home.
func stateOf(home string) string { return filepath.Join(home, ".local", "state", "runner") }

// awaitStatus asks the only daemon of home until it answers as wanted.
func awaitStatus(t *testing.T, home string, wanted func(control.Status) bool) control.Status {
	t.Helper()
	return awaitStatusIn(t, stateOf(home), wanted)
}

// awaitStatusIn is awaitStatus for a state folder.
func awaitStatusIn(t *testing.T, state string, wanted func(control.Status) bool) control.Status {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	var found []control.Found
	for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
		found = control.Find(context.Background(), state)
		if len(found) == 1 && found[0].Err == nil && wanted(found[0].Status) {
			return found[0].Status
		}
		if time.Now().After(deadline) {
			t.Fatalf("the daemon never answered so; at last: %+v", found)
		}
	}
}

func TestDaemonAnswersOnItsSocketAndNotItsOwnCommands(t *testing.T) {
	home := inHome(t)
	h, url, root, _ := startHub(t, home)
	p := startProcess(t, home, root, url)
	awaitRunner(t, h)
	s := awaitStatus(t, home, func(s control.Status) bool { return len(s.Projects) == 1 && s.Projects[0].State == control.Joined })
	if s.PID != p.cmd.Process.Pid || s.Version != version || s.Since.After(time.Now()) || s.Journal.Bytes == 0 || s.Server != url || len(s.Health) > 0 {
		t.Errorf("%+v", s)
	}
	if filepath.Dir(s.Folder) != filepath.Join(stateOf(home), "projects") {
		t.Errorf("its state is in %s", s.Folder)
	}
	// What the command leaves behind asks too: its parents are gone, its session is another, the daemon its reaper.
	// It stands in a file, since a command that names the folder is refused before it can ask.
	script := fmt.Sprintf("env -u %s %s=%s %s", asCommand, asAsker, s.Folder, os.Args[0])
	if err := os.WriteFile(filepath.Join(root, "ask.sh"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	const ask = "sh ask.sh"
	for name, command := range map[string]string{
		"command": ask,
		"orphan":  fmt.Sprintf("(setsid sh -c 'sleep 0.1; %s >said.part; mv said.part said' &) >/dev/null 2>&1; while [ ! -e said ]; do sleep 0.01; done; cat said", ask),
	} {
		t.Run(name, func(t *testing.T) {
			a := awaitAction(t, h, proposeText(t, h, command))
			if a.Status != hub.Executed || !strings.Contains(a.Outcome.Output, string(failure.ControlRefused)) {
				t.Errorf("%s: %+v", a.Status, a.Outcome)
			}
		})
	}
}
