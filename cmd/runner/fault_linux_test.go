package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub"
)

// process is a daemon in a process of its own, which can be killed.
type process struct {
	cmd *exec.Cmd
	log *os.File
}

// startProcess starts `runner run` for the project "p". change adapts how.
func startProcess(t testing.TB, home, root, url string, change ...func(*exec.Cmd)) *process {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "run", "--project", "p", "--dir", root, "--api-url", url)
	cmd.Env = []string{asCommand + "=1", "HOME=" + home, "PATH=" + os.Getenv("PATH"), "BRABO_ACCOUNT_TOKEN=" + testToken}
	for _, name := range []string{"RUNNER_CONNECT_BACKOFF_MAX", "RUNNER_CONNECT_STABLE_AFTER", "RUNNER_CONNECT_HEARTBEAT"} {
		cmd.Env = append(cmd.Env, name+"="+os.Getenv(name)) // an empty one counts as not set
	}
	cmd.Stdout, cmd.Stderr = log, log
	for _, c := range change {
		c(cmd)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd, log}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("the daemon said:\n%s", text)
		}
		log.Close()
	})
	return p
}

// kill ends the daemon as a crash or the kernel does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	_ = p.cmd.Wait()
}

func awaitRunner(t testing.TB, h *hub.Hub) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := h.WaitRunner(ctx, "p"); err != nil {
		t.Fatal("the daemon did not join:", err)
	}
}

func awaitAction(t testing.TB, h *hub.Hub, id string) hub.Action {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	a, err := h.Wait(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func proposeText(t testing.TB, h *hub.Hub, command string) string {
	t.Helper()
	a, err := h.Propose(hub.Proposal{ProjectID: "p", Type: "terminal", Command: command})
	if err != nil {
		t.Fatal(err)
	}
	return a.ID
}

func awaitFile(t *testing.T, path string) string {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for tick := time.NewTicker(2 * time.Millisecond); ; <-tick.C {
		if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
			return string(text)
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not appear", path)
		}
	}
}

// TestFaultKilledDaemon kills a daemon while one command runs, one has finished, and one has not begun.
func TestFaultKilledDaemon(t *testing.T) {
	home := inHome(t)
	h, url, root, _ := startHub(t, home)
	first := startProcess(t, home, root, url)
	awaitRunner(t, h)
	running := proposeText(t, h, `echo run >>ran; setsid sleep 300 & echo $! >child; sleep 300`)
	var child int
	if _, err := fmt.Sscan(awaitFile(t, filepath.Join(root, "child")), &child); err != nil {
		t.Fatal(err)
	}
	first.kill()

	startProcess(t, home, root, url)
	a := awaitAction(t, h, running)
	if a.Status != hub.Failed || a.Outcome.ExitCode != nil {
		t.Errorf("%+v", a)
	}
	failuretest.Produced(t, a.Outcome.Failure, failure.Interrupted)
	if alive, _ := alive(child); alive && !zombie(child) {
		t.Errorf("%d, of the interrupted command, still runs", child)
	}
	after := awaitAction(t, h, proposeText(t, h, "wc -l <ran"))
	if strings.TrimSpace(after.Outcome.Output) != "1" {
		t.Errorf("the command ran %q times", after.Outcome.Output)
	}
}

// zombie reports whether a process has ended and only its parent has not noticed.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

// TestFaultResultOutlivesTheDaemon kills a daemon that could not deliver its result.
func TestFaultResultOutlivesTheDaemon(t *testing.T) {
	home := inHome(t)
	h, url, root, _ := startHub(t, home)
	proxy := newFaultProxy(t, url)
	first := startProcess(t, home, root, proxy.url)
	awaitRunner(t, h)
	id := proposeText(t, h, "touch started; while [ ! -e go ]; do sleep 0.01; done; echo finished; echo done >finished")
	awaitFileExists(t, filepath.Join(root, "started"))
	proxy.set(func() { proxy.closed = true })
	proxy.cut(true)
	if err := os.WriteFile(filepath.Join(root, "go"), []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	awaitFile(t, filepath.Join(root, "finished"))
	awaitLog(t, first, "finished") // its result is stored by now
	first.kill()
	proxy.set(func() { proxy.closed = false })
	startProcess(t, home, root, proxy.url)
	if a := awaitAction(t, h, id); a.Status != hub.Executed || a.Outcome.Output != "finished\n" {
		t.Errorf("%+v %+v", a, a.Outcome)
	}
}

func TestSecondDaemonOfAProjectIsRefusedByName(t *testing.T) {
	home := inHome(t)
	h, url, root, _ := startHub(t, home)
	startProcess(t, home, root, url)
	awaitRunner(t, h)
	t.Setenv("BRABO_ACCOUNT_TOKEN", testToken)
	c := start(t, "run", "--project", "p", "--dir", root, "--api-url", url)
	if code := c.code(t); code != exitLocked || !strings.Contains(c.String(), "runner: state_locked") {
		t.Errorf("exit %d:\n%s", code, c)
	}
}

func awaitFileExists(t *testing.T, path string) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for tick := time.NewTicker(2 * time.Millisecond); ; <-tick.C {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not appear", path)
		}
	}
}

// awaitLog waits for a message in the log, and awaitLogText for any text.
func awaitLog(t *testing.T, p *process, text string) {
	t.Helper()
	awaitLogText(t, p, "msg="+text)
}

func awaitLogText(t *testing.T, p *process, text string) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for tick := time.NewTicker(2 * time.Millisecond); ; <-tick.C {
		if log, err := os.ReadFile(p.log.Name()); err == nil && strings.Contains(string(log), text) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the daemon did not log %q", text)
		}
	}
}
