package notify

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestManagerIsFoundInTheEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		environ []string
		want    Manager
	}{
		"none":             {[]string{"HOME=/home/ana"}, Manager{}},
		"without watchdog": {[]string{"NOTIFY_SOCKET=/run/notify"}, Manager{Socket: "/run/notify"}},
		"with watchdog":    {[]string{"NOTIFY_SOCKET=@abstract", "WATCHDOG_USEC=3000000", "WATCHDOG_PID=42"}, Manager{Socket: "@abstract", Watchdog: 3 * time.Second}},
		"of every process": {[]string{"NOTIFY_SOCKET=/n", "WATCHDOG_USEC=500"}, Manager{Socket: "/n", Watchdog: 500 * time.Microsecond}},
		"of another":       {[]string{"NOTIFY_SOCKET=/n", "WATCHDOG_USEC=3000000", "WATCHDOG_PID=41"}, Manager{Socket: "/n"}},
		"no number":        {[]string{"NOTIFY_SOCKET=/n", "WATCHDOG_USEC=soon"}, Manager{Socket: "/n"}},
		"no time":          {[]string{"NOTIFY_SOCKET=/n", "WATCHDOG_USEC=0"}, Manager{Socket: "/n"}},
		"below zero":       {[]string{"NOTIFY_SOCKET=/n", "WATCHDOG_USEC=-1"}, Manager{Socket: "/n"}},
		"for ever":         {[]string{"NOTIFY_SOCKET=/n", "WATCHDOG_USEC=9223372036854775807"}, Manager{Socket: "/n"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := FromEnvironment(c.environ, 42); got != c.want {
				t.Errorf("%+v", got)
			}
		})
	}
}

// systemd is a service manager's socket.
type systemd struct {
	path string
	conn *net.UnixConn
}

func newSystemd(t *testing.T) *systemd {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there are no such sockets here")
	}
	s := &systemd{path: filepath.Join(t.TempDir(), "notify")}
	var err error
	if s.conn, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: s.path, Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.conn.Close() })
	return s
}

// hear gives the next message.
func (s *systemd) hear(t *testing.T) string {
	t.Helper()
	if err := s.conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4096)
	n, err := s.conn.Read(b)
	if err != nil {
		t.Fatal("nothing was heard:", err)
	}
	return string(b[:n])
}

// hearWith gives the next message that has the variable.
func (s *systemd) hearWith(t *testing.T, variable string) string {
	t.Helper()
	for {
		if m := s.hear(t); strings.Contains("\n"+m+"\n", "\n"+variable+"\n") {
			return m
		}
	}
}

// watched is a Watch that runs in a test.
type watched struct {
	ready, stopping chan struct{}
	mu              sync.Mutex
	look            Look
}

func (w *watched) set(l Look) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.look = l
}

func watch(t *testing.T, m Manager) *watched {
	t.Helper()
	w := &watched{ready: make(chan struct{}), stopping: make(chan struct{}), look: Look{Status: "fine"}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.Watch(ctx, Phases{w.ready, w.stopping}, func() Look {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.look
		}, slog.New(slog.DiscardHandler))
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return w
}

func TestManagerIsToldOfEachPhase(t *testing.T) {
	s := newSystemd(t)
	w := watch(t, Manager{Socket: s.path, Watchdog: 20 * time.Millisecond})
	if m := s.hear(t); m != "STATUS=fine\nEXTEND_TIMEOUT_USEC=30000000\nWATCHDOG=1" {
		t.Errorf("at first: %q", m)
	}
	if m := s.hear(t); m != "EXTEND_TIMEOUT_USEC=30000000\nWATCHDOG=1" {
		t.Errorf("while starting: %q", m)
	}
	close(w.ready)
	s.hearWith(t, "READY=1")
	if m := s.hear(t); m != "WATCHDOG=1" {
		t.Errorf("while serving: %q", m)
	}
	close(w.stopping)
	if m := s.hearWith(t, "STOPPING=1"); !strings.Contains(m, "EXTEND_TIMEOUT_USEC=30000000") {
		t.Errorf("when stopping: %q", m)
	}
	if m := s.hear(t); m != "EXTEND_TIMEOUT_USEC=30000000\nWATCHDOG=1" {
		t.Errorf("while stopping: %q", m)
	}
}

func TestWatchdogStarvesWhileSomethingIsStuck(t *testing.T) {
	s := newSystemd(t)
	w := watch(t, Manager{Socket: s.path, Watchdog: 20 * time.Millisecond})
	close(w.ready)
	s.hearWith(t, "READY=1")
	w.set(Look{Status: "fine", Stuck: "a\nloop"})
	if m := s.hearWith(t, "STATUS=stuck: a loop"); strings.Contains(m, "WATCHDOG") {
		t.Errorf("fed: %q", m)
	}
	w.set(Look{Status: "fine again"})
	// The next word is that all is well: nothing was said in between.
	if m := s.hear(t); m != "STATUS=fine again\nWATCHDOG=1" {
		t.Errorf("%q", m)
	}
}

func TestDaemonThatStopsBeforeItWasReadyIsNeverReady(t *testing.T) {
	s := newSystemd(t)
	w := watch(t, Manager{Socket: s.path, Watchdog: 20 * time.Millisecond})
	close(w.stopping)
	s.hearWith(t, "STOPPING=1")
	close(w.ready)
	for range 3 {
		if m := s.hear(t); strings.Contains(m, "READY") {
			t.Errorf("%q", m)
		}
	}
}

func TestNobodyIsToldWhereThereIsNobody(t *testing.T) {
	watch(t, Manager{})
	w := watch(t, Manager{Socket: filepath.Join(t.TempDir(), "gone"), Watchdog: 2 * time.Millisecond})
	close(w.ready) // it goes on all the same
}
