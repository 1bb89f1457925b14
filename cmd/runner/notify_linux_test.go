package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"brabo.dev/runner/runner/control"
)

// systemd is a socket on which a daemon tells how it stands.
type systemd struct {
	conn *net.UnixConn
	all  string // what was heard so far
}

// listenAsSystemd gives the socket, and what makes a daemon use it with a watchdog of that length.
func listenAsSystemd(t *testing.T, watchdog string) (*systemd, func(*exec.Cmd)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &systemd{conn: conn}, func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "NOTIFY_SOCKET="+path, "WATCHDOG_USEC="+watchdog) }
}

// hear gives the next message that holds text, and all before it.
func (s *systemd) hear(t *testing.T, text string) (message, before string) {
	t.Helper()
	if err := s.conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	for b := make([]byte, 4096); ; before += message + "\n" {
		n, err := s.conn.Read(b)
		if err != nil {
			t.Fatalf("%q was not heard, but:\n%s", text, before)
		}
		message = string(b[:n])
		s.all += message + "\n"
		if strings.Contains(message, text) {
			return message, before
		}
	}
}

// heard waits until text was heard at any time.
func (s *systemd) heard(t *testing.T, text string) {
	t.Helper()
	if !strings.Contains(s.all, text) {
		s.hear(t, text)
	}
}

func TestServiceManagerIsToldHowTheDaemonStands(t *testing.T) {
	home := inHome(t)
	h, url, root, _ := startHub(t, home)
	s, under := listenAsSystemd(t, "200000")
	p := startProcess(t, home, root, url, under)
	s.hear(t, "READY=1")
	awaitRunner(t, h)
	s.heard(t, "STATUS=1 of 1 projects joined")
	s.hear(t, "WATCHDOG=1")
	// A command sees nothing of that socket, on which it could speak for the daemon.
	if a := awaitAction(t, h, proposeText(t, h, "echo [$NOTIFY_SOCKET$WATCHDOG_USEC]")); a.Outcome.Output != "[]\n" {
		t.Error(a.Outcome.Output)
	}
	proposeText(t, h, "touch started; while [ ! -e go ]; do sleep 0.01; done")
	awaitFileExists(t, filepath.Join(root, "started"))
	p.signal(t, syscall.SIGTERM)
	s.hear(t, "STOPPING=1")
	if m, _ := s.hear(t, "EXTEND_TIMEOUT_USEC="); !strings.Contains(m, "WATCHDOG=1") {
		t.Errorf("a daemon that drains is alive, and said %q", m)
	}
	if err := os.WriteFile(filepath.Join(root, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.wait(t, exitOK)
}

// TestWatchdogIsNotFedWhileASessionIsStuck has a log that takes nothing: a terminal that was stopped, or a full journal.
func TestWatchdogIsNotFedWhileASessionIsStuck(t *testing.T) {
	home := inHome(t)
	h, url, root, _ := startHub(t, home)
	s, under := listenAsSystemd(t, "200000")
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	p := startProcess(t, home, root, url, under, func(cmd *exec.Cmd) { cmd.Stderr = writer })
	writer.Close()
	s.heard(t, "STATUS=1 of 1 projects joined")
	id := proposeText(t, h, "true "+strings.Repeat("x", 100_000)) // more than fits into a pipe is logged of it
	s.hear(t, "STATUS=stuck: project p (receiving)")
	found := control.Find(context.Background(), stateOf(home)) // who asks is answered all the same
	if len(found) != 1 || found[0].Err != nil || found[0].Status.PID != p.cmd.Process.Pid {
		t.Errorf("%+v", found)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = p.log.ReadFrom(reader)
	}()
	if m, before := s.hear(t, "WATCHDOG=1"); strings.Contains(m, "stuck") || strings.Contains(before, "WATCHDOG") {
		t.Errorf("%q after %q", m, before)
	}
	awaitAction(t, h, id)
	p.signal(t, syscall.SIGTERM)
	p.wait(t, exitOK)
	<-drained
}
