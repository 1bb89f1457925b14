package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub"
)

func (p *process) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// wait returns when the daemon has ended, and fails the test where its exit code is another.
func (p *process) wait(t testing.TB, want int) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		_ = p.cmd.Process.Kill()
		<-ended
		t.Fatal("the daemon did not end")
	}
	if code := p.cmd.ProcessState.ExitCode(); code != want {
		t.Errorf("exit %d (%v), want %d", code, p.cmd.ProcessState, want)
	}
}

// lastLine is the last line of the log; the error that is shown behind it does not count.
func (p *process) lastLine(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(p.log.Name())
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "time=") {
			last = line
		}
	}
	return last
}

// grace makes a daemon wait that long for its actions.
func grace(d string) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "RUNNER_DRAIN_GRACE="+d) }
}

func TestStopTellsTheTruthAboutWhatItLeft(t *testing.T) {
	const running = "touch started; while [ ! -e go ]; do sleep 0.01; done; echo finished"
	for name, c := range map[string]struct {
		signal  syscall.Signal
		grace   string
		during  func(t *testing.T, root string, proxy *faultProxy)
		code    int
		outcome []string
		result  failure.Name // of the action; empty: it was executed
		later   bool         // the result comes from the next daemon
	}{
		"all finished": {
			signal: syscall.SIGTERM, grace: "1m", during: letGo, code: exitOK,
			outcome: []string{"finished=1 cancelled=0 unstored=0 undelivered=0", "all actions were finished"},
		},
		"all finished, after Ctrl-C": {
			signal: syscall.SIGINT, grace: "1m", during: letGo, code: exitOK,
			outcome: []string{"finished=1 cancelled=0 unstored=0 undelivered=0", "all actions were finished"},
		},
		"cancelled": {
			signal: syscall.SIGTERM, grace: "0s", during: func(*testing.T, string, *faultProxy) {}, code: exitOK,
			outcome: []string{"finished=0 cancelled=1 unstored=0 undelivered=0", "some actions were cancelled"}, result: failure.Cancelled,
		},
		"not delivered": {
			signal: syscall.SIGTERM, grace: "1m", code: exitFail, later: true,
			during: func(t *testing.T, root string, proxy *faultProxy) {
				proxy.set(func() { proxy.closed = true })
				proxy.cut(true)
				letGo(t, root, proxy)
			},
			outcome: []string{"finished=1 cancelled=0 unstored=0 undelivered=1", string(failure.ResultsWaiting)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := inHome(t)
			h, url, root, _ := startHub(t, home)
			proxy := newFaultProxy(t, url)
			p := startProcess(t, home, root, proxy.url, grace(c.grace))
			awaitRunner(t, h)
			id := proposeText(t, h, running)
			awaitFileExists(t, filepath.Join(root, "started"))
			p.signal(t, c.signal)
			awaitLog(t, p, `"stopping`)
			c.during(t, root, proxy)
			p.wait(t, c.code)
			for _, text := range c.outcome {
				if line := p.lastLine(t); !strings.Contains(line, text) {
					t.Errorf("the last words were %q, without %q", line, text)
				}
			}
			if c.later {
				proxy.set(func() { proxy.closed = false })
				startProcess(t, home, root, proxy.url)
			}
			a := awaitAction(t, h, id)
			if c.result != "" {
				failuretest.Produced(t, a.Outcome.Failure, c.result)
			} else if a.Status != hub.Executed || a.Outcome.Output != "finished\n" {
				t.Errorf("%s: %+v", a.Status, a.Outcome)
			}
		})
	}
}

// letGo has the running command end.
func letGo(t *testing.T, root string, _ *faultProxy) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSecondSignalEndsTheDaemonAtOnce(t *testing.T) {
	home := inHome(t)
	h, url, root, _ := startHub(t, home)
	p := startProcess(t, home, root, url, grace("1m"))
	awaitRunner(t, h)
	id := proposeText(t, h, "touch started; sleep 300")
	awaitFileExists(t, filepath.Join(root, "started"))
	p.signal(t, syscall.SIGTERM)
	awaitLog(t, p, `"stopping`)
	p.signal(t, syscall.SIGTERM)
	p.wait(t, -1) // by the signal
	startProcess(t, home, root, url)
	failuretest.Produced(t, awaitAction(t, h, id).Outcome.Failure, failure.Interrupted)
}
