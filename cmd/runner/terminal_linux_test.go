package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"brabo.dev/runner/runner/hub"
)

const terminalPerson = "person-of-terminals"

// window is a person's terminal in which a command runs.
type window struct {
	cmd    *exec.Cmd
	master *os.File
	slave  *os.File
	before *term.State

	mu  sync.Mutex
	out bytes.Buffer
}

// openWindow runs `runner terminal` on a pseudo terminal of 100 by 30.
func openWindow(t testing.TB, home, url string, change ...func(env []string) []string) *window {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	w := &window{master: master, slave: slave}
	if w.before, err = term.GetState(int(slave.Fd())); err != nil {
		t.Fatal(err)
	}
	w.cmd = exec.Command(os.Args[0], "terminal", "Shop")
	w.cmd.Env = []string{asCommand + "=1", "HOME=" + home, "PATH=" + os.Getenv("PATH"), hubURLVariable + "=" + url, agentTokenVariable + "=" + terminalPerson}
	for _, c := range change {
		w.cmd.Env = c(w.cmd.Env)
	}
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = slave, slave, slave
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		for buf := make([]byte, 4096); ; {
			n, err := master.Read(buf)
			w.mu.Lock()
			w.out.Write(buf[:n])
			w.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		_ = w.cmd.Process.Kill()
		slave.Close()
		master.Close()
		reading.Wait()
	})
	return w
}

func (w *window) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.String()
}

// sees waits for text; each, if it is not nil, is done before each look.
func (w *window) sees(t testing.TB, text string, each func()) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !strings.Contains(w.text(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%q was not seen in:\n%s", text, w.text())
		}
		if each != nil {
			each()
		}
	}
}

func (w *window) types(t testing.TB, text string) {
	t.Helper()
	if _, err := w.master.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// ends gives the exit code, and fails where the terminal is not as it was.
func (w *window) ends(t testing.TB) int {
	t.Helper()
	gone := make(chan error, 1)
	go func() { gone <- w.cmd.Wait() }()
	select {
	case err := <-gone:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
	case <-time.After(60 * time.Second):
		t.Fatalf("the command did not end:\n%s", w.text())
	}
	after, err := term.GetState(int(w.slave.Fd()))
	if err != nil || !reflect.DeepEqual(w.before, after) {
		t.Errorf("the terminal is not as it was: %+v and %+v (%v)", w.before, after, err)
	}
	return w.cmd.ProcessState.ExitCode()
}

// terminalBed is a hub and a daemon of its project. The daemon is a process of its own: it waits for all that it adopts,
// and would take the test's children for such. stop ends it, in an orderly way.
func terminalBed(t testing.TB, home string) (h *hub.Hub, url, root string, stop func()) {
	t.Helper()
	h, url, root, _ = startHub(t, home, func(c *hub.Config) { c.PersonToken = terminalPerson })
	daemon := exec.Command(os.Args[0], "run", "--project", "p", "--dir", root, "--api-url", url)
	daemon.Env = []string{asCommand + "=1", "HOME=" + home, "PATH=" + os.Getenv("PATH"), "BRABO_ACCOUNT_TOKEN=" + testToken}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		if err := errors.Join(daemon.Process.Signal(syscall.SIGTERM), daemon.Wait()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	if err := h.WaitRunner(ctx, "p"); err != nil {
		t.Fatal(err)
	}
	return h, url, root, stop
}

// TestTerminalThroughHubAndDaemon needs bash. Both ends are real pseudo terminals.
func TestTerminalThroughHubAndDaemon(t *testing.T) {
	home := inHome(t)
	h, url, root, stop := terminalBed(t, home)
	w := openWindow(t, home, url)
	w.types(t, "echo $((6*7)):$PWD; stty size\r")
	w.sees(t, "42:"+root, nil)
	w.sees(t, "30 100", nil)
	if err := pty.Setsize(w.master, &pty.Winsize{Rows: 41, Cols: 121}); err != nil {
		t.Fatal(err)
	}
	w.sees(t, "41 121", func() { w.types(t, "stty size\r") })
	w.types(t, "bash -c 'echo $((8*8)):up; exec sleep 1000'\r")
	w.sees(t, "64:up", nil)
	w.types(t, "\x03")
	w.types(t, "echo $((7*7)):past\r") // ^C ended the sleep, and not the command
	w.sees(t, "49:past", nil)
	shown, err := daemonsOf(t, url)
	if err != nil || !strings.Contains(shown, `"terminals":1`) {
		t.Errorf("%s, %v", shown, err)
	}
	w.types(t, "exit 7\r")
	if code := w.ends(t); code != 7 {
		t.Errorf("exit %d:\n%s", code, w.text())
	}

	killed := openWindow(t, home, url)
	killed.types(t, "echo $((6*7)):$$; (trap '' HUP; exec sleep 1000) & echo $! >child; kill -KILL $$\r")
	if code := killed.ends(t); code != 128+9 {
		t.Errorf("exit %d:\n%s", code, killed.text())
	}
	awaitEnd(t, filepath.Join(root, "child"))
	for name, sig := range map[string]os.Signal{"stopped": syscall.SIGTERM, "hung up": syscall.SIGHUP} {
		stopped := openWindow(t, home, url)
		stopped.types(t, "echo $((6*7)):\r")
		stopped.sees(t, "42:", nil)
		if err := stopped.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if code := stopped.ends(t); code != exitFail {
			t.Errorf("%s: exit %d:\n%s", name, code, stopped.text())
		}
	}
	left := openWindow(t, home, url)
	left.types(t, "echo $((6*7)):\r")
	left.sees(t, "42:", nil)
	stop()
	left.sees(t, "runner_gone", nil)
	if code := left.ends(t); code != exitFail {
		t.Errorf("exit %d", code)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	refused := openWindow(t, home, url)
	refused.sees(t, "no_runner", nil)
	refused.ends(t)
	if err := h.Close(ctx); err != nil {
		t.Error(err)
	}
}

// awaitEnd waits until the process whose id stands in a file is gone.
func awaitEnd(t testing.TB, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(60 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d outlived its terminal", pid)
		}
	}
}

// daemonsOf is the hub's list of daemons.
func daemonsOf(t testing.TB, url string) (string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/daemons", nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+terminalPerson)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	return string(raw), err
}
