package control

import (
	"context"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// adopt makes this process the one that gets its descendants' orphans, as the daemon is.
func adopt(t *testing.T) {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) })
}

func TestDescendantIsRefusedByName(t *testing.T) {
	adopt(t)
	folder := t.TempDir()
	serve(t, folder)
	said := filepath.Join(folder, "said")
	// The orphan asks once its parent is gone and it has a session of its own.
	orphan := `(setsid sh -c 'while kill -0 $1 2>/dev/null; do sleep 0.01; done; "$2" >"$3.part"; mv "$3.part" "$3"' sh $$ "$1" "` + said + `" &) </dev/null >/dev/null 2>&1`
	for name, wrap := range map[string][]string{
		"child":      nil,
		"grandchild": {"sh", "-c", `"$0"; true`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := askFrom(t, folder, wrap...); got != string(failure.ControlRefused) {
				t.Errorf("it was told: %s", got)
			}
		})
	}
	t.Run("orphan", func(t *testing.T) {
		cmd := exec.Command("sh", "-c", orphan, "sh", os.Args[0])
		cmd.Env = append(os.Environ(), asClient+"="+folder)
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		if got := awaitText(t, said); got != string(failure.ControlRefused) {
			t.Errorf("it was told: %s", got)
		}
	})
}

func awaitText(t *testing.T, path string) string {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
		if text, err := os.ReadFile(path); err == nil {
			return strings.TrimSpace(string(text))
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not appear", path)
		}
	}
}

// askFrom runs this binary as another process that asks, and gives what it was told.
func askFrom(t *testing.T, folder string, wrap ...string) string {
	t.Helper()
	line := append(wrap, os.Args[0])
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(os.Environ(), asClient+"="+folder)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestStrangerIsAnswered has a process as the daemon that is no ancestor of who asks.
func TestStrangerIsAnswered(t *testing.T) {
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	}()
	a, b := pair(t)
	defer a.Close()
	defer b.Close()
	if err := refusePeer(a, other.Process.Pid); err != nil {
		t.Error(err)
	}
	failuretest.Produced(t, refusePeer(a, os.Getppid()), failure.ControlRefused)
}

// TestPeerThatHasEndedIsRefused leaves the connection of a process that is gone, as one would that has a child ask.
func TestPeerThatHasEndedIsRefused(t *testing.T) {
	folder := t.TempDir()
	listener, remove, err := listen(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	defer func() { _ = remove() }()
	askFromAndEnd(t, folder)
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	failuretest.Produced(t, refusePeer(conn, os.Getpid()), failure.ControlRefused)
}

// askFromAndEnd starts a process that connects and is killed before it hears an answer.
func askFromAndEnd(t *testing.T, folder string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asClient+"="+folder)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	connected(t, folder)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// connected waits until somebody has connected to the socket of folder, which /proc/net/unix shows.
func connected(t *testing.T, folder string) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for tick := time.NewTicker(2 * time.Millisecond); ; <-tick.C {
		text, err := os.ReadFile("/proc/net/unix")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(text), address(folder)) > 1 { // the listener, and a connection to it
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("nobody connected")
		}
	}
}

// pair is a connection of this process to itself.
func pair(t *testing.T) (net.Conn, net.Conn) {
	t.Helper()
	folder := t.TempDir()
	listener, remove, err := listen(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	defer func() { _ = remove() }()
	client, err := dial(context.Background(), folder)
	if err != nil {
		t.Fatal(err)
	}
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return server, client
}

func TestSocketIsItsOwnersAlone(t *testing.T) {
	folder := t.TempDir()
	s, err := Listen(Options{Folder: folder, Status: full, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	info, err := os.Stat(address(folder))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}
