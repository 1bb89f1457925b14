package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	bounds "brabo.dev/runner/exec"
	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/hub"
)

// command runs runner as a person of home does, and gives what it printed and its exit code.
func command(t *testing.T, home string, args ...string) (out string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = []string{asCommand + "=1", "HOME=" + home, "PATH=" + os.Getenv("PATH")}
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return both.String(), cmd.ProcessState.ExitCode()
}

func TestStatusHistoryAndLogsOfADaemon(t *testing.T) {
	home := inHome(t)
	if out, code := command(t, home, "status"); code != exitNotRunning || !strings.Contains(out, "daemon_not_running") {
		t.Errorf("%d %s", code, out)
	}
	wants(t, home, 0, "^this machine has received no action yet; `runner pending` lists those that wait at the hub\n$", "history")
	h, url, root, _ := startHub(t, home)
	p := startProcess(t, home, root, url)
	awaitRunner(t, h)
	done := awaitAction(t, h, proposeText(t, h, "printf 'a\\033b'; exit 3"))
	if done.Status != hub.Failed {
		t.Fatalf("%+v", done)
	}
	awaitStatus(t, home, func(s control.Status) bool { return s.Counters.Delivered == 1 && s.Projects[0].State == control.Joined })

	out, code := command(t, home, "status")
	for _, want := range []string{"runner " + version + " is running", url, "project   p in " + root + ": joined", "1 received", "all is well"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("status: %d, no %q in\n%s", code, want, out)
		}
	}
	var report statusReport
	out, code = command(t, home, "status", "--json")
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != 0 || len(report.Daemons) != 1 || report.Daemons[0].PID != p.cmd.Process.Pid {
		t.Errorf("%d %s %v", code, out, err)
	}
	out, code = command(t, home, "logs", "--action", done.ID)
	if code != 0 || !strings.Contains(out, "received") || !strings.Contains(out, "exit_code=3") || strings.Contains(out, testToken) {
		t.Errorf("logs: %d\n%s", code, out)
	}
	historyShows := func() {
		t.Helper()
		out, code := command(t, home, "history", "--failed")
		if code != 0 || strings.Count(out, "\n") != 1 || !strings.Contains(out, done.ID) || !strings.Contains(out, "exit 3") {
			t.Errorf("history: %d\n%s", code, out)
		}
		out, code = command(t, home, "history", "--json", "--action", done.ID)
		var actions []control.Action
		if err := json.Unmarshal([]byte(out), &actions); err != nil || code != 0 || len(actions) != 1 || *actions[0].ExitCode != 3 || actions[0].Delivered.IsZero() {
			t.Errorf("history: %d %s %v", code, out, err)
		}
	}
	historyShows()
	p.kill()
	historyShows()
	wants(t, home, 0, `^no action that this machine received is of that kind\n$`, "history", "--project", "another")
}

func TestStatusOfADaemonThatIsNotWellSaysSo(t *testing.T) {
	home := inHome(t)
	p := startProcess(t, home, home+"/project", "http://127.0.0.1:1") // nobody listens there
	awaitStatus(t, home, func(s control.Status) bool { return len(s.Health) > 0 })
	out, code := command(t, home, "status")
	if code != exitDegraded || !strings.Contains(out, "warning: server_unreachable") || !strings.Contains(out, "next attempt within") {
		t.Errorf("%d\n%s", code, out)
	}
	p.kill()
}

func TestDoctorAsksTheRunningDaemon(t *testing.T) {
	home := inHome(t)
	h, url, root, jwk := startHub(t, home)
	if err := os.Chmod(pairWith(t, url, jwk).Path(), 0o644); err != nil { // which the daemon mends at its start
		t.Fatal(err)
	}
	startProcess(t, home, root, url, func(c *exec.Cmd) {
		c.Env = slices.DeleteFunc(c.Env, func(entry string) bool { return strings.HasPrefix(entry, "BRABO_ACCOUNT_TOKEN=") })
	})
	awaitRunner(t, h)
	out, code := command(t, home, "doctor")
	for _, want := range []string{"seen by the running daemon", "WARN  pairing      pairing_modes:", "PASS  server", "PASS  clock", "PASS  credential", "PASS  folder", "PASS  shell", "PASS  journal", "PASS  policy"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("%d, no %q in\n%s", code, want, out)
		}
	}
	// The daemon's PATH counts, not that of who asks.
	var reports report
	out, _ = command(t, home, "doctor", "--json")
	if err := json.Unmarshal([]byte(out), &reports); err != nil || len(reports) != 1 || !reports[0].Daemon {
		t.Errorf("%s %v", out, err)
	}
}

// TestStatusTellsWhatThisMachineCantDo demands limits that the kernel does not keep here, and then a policy.json that nobody
// understands.
func TestStatusTellsWhatThisMachineCantDo(t *testing.T) {
	home := inHome(t)
	h, url, root, _ := startHub(t, home)
	startProcess(t, home, root, url, func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, `RUNNER_COMMANDS_LIMITS={"pids": 4000}`) })
	awaitRunner(t, h)
	if bounds.KernelKeepsLimits() == nil {
		wants(t, home, exitOK, `all is well`, "status")
	} else {
		wants(t, home, exitDegraded, `(?m)^  warning: limits_counted: `, "status")
	}
	lockHome(t, home, `{"defualt": {}}`)
	wants(t, home, exitDegraded, `(?m)^  error: machine_policy_invalid: .*policy.json:1`, "status")
	wants(t, home, exitDegraded, `"name":"machine_policy_invalid"`, "status", "--json")
}
