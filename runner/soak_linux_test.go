package runner

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/control"
)

// usage is what a process holds.
type usage struct {
	goroutines, descriptors int
	heap, resident          int64 // bytes, after a collection
}

func measure(t *testing.T) usage {
	t.Helper()
	debug.FreeOSMemory()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var total, resident int64
	if _, err := fmt.Fscan(bytes.NewReader(statm), &total, &resident); err != nil {
		t.Fatal(err)
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	return usage{runtime.NumGoroutine(), len(fds), int64(mem.HeapAlloc), resident * int64(os.Getpagesize())}
}

// Bounds of what a soak may add: what comes and goes with the moment, but nothing for each round.
const (
	moreGoroutines  = 4
	moreDescriptors = 4
	moreHeap        = 2 << 20
	moreResident    = 32 << 20
)

func (u usage) flat(base usage) bool {
	return u.goroutines <= base.goroutines+moreGoroutines && u.descriptors <= base.descriptors+moreDescriptors &&
		u.heap <= base.heap+moreHeap && u.resident <= base.resident+moreResident
}

func (u usage) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %d KiB heap, %d KiB resident", u.goroutines, u.descriptors, u.heap>>10, u.resident>>10)
}

// TestSoak has actions and reconnects go round and expects that goroutines, descriptors and memory stay as they were
// after the first rounds.
//
// The long form: RUNNER_SOAK=2h go test -run TestSoak -timeout 0 ./runner
func TestSoak(t *testing.T) {
	length := 3 * time.Second
	if text := os.Getenv("RUNNER_SOAK"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	e, j := newEngine(t, action.Known()...), openJournal(t, t.TempDir())
	d := startDaemon(t, e, func(o *Options) { o.Ledger, o.Log = j, slog.New(slog.DiscardHandler) })
	e.joined(t)
	s := soak{t: t, e: e, d: d}
	const warm, least = 10, 40 // rounds
	var base usage
	for began := time.Now(); s.rounds < least || time.Since(began) < length; {
		s.round()
		if s.rounds == warm {
			base = measure(t)
		}
	}
	// What the last round left may still be going away.
	last := measure(t)
	for deadline := time.Now().Add(time.Minute); !last.flat(base) && time.Now().Before(deadline); last = measure(t) {
		time.Sleep(50 * time.Millisecond)
	}
	if !last.flat(base) {
		t.Errorf("after %d rounds: %v\nafter %d: %v", s.rounds, last, warm, base)
	}
	t.Logf("%d rounds with %d actions and %d reconnects; at first %v, at last %v", s.rounds, s.actions, s.rounds, base, last)
	d.stop()
	if err := d.wait(t); err != nil {
		t.Error(err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

type soak struct {
	t               *testing.T
	e               *engine
	d               *daemon
	rounds, actions int
}

// round has commands of every kind run, the connection cut under them, and waits until all was delivered.
func (s *soak) round() {
	s.t.Helper()
	type command struct{ text, rest string }
	commands := []command{
		{"true", ""},
		{"head -c 100000 /dev/zero", ""}, // more than a result holds
		{"exit 3", ""},
		{"rm -rf /", ""},
		{"true", `,"cwd":"/nowhere"`},
	}
	if s.rounds%10 == 0 { // these take a second each
		commands = append(commands, command{"sleep 300", `,"deadlineMs":1000`}, command{"sleep 300 & true", ""})
	}
	for i, c := range commands {
		s.e.exec(s.t, fmt.Sprintf("%d-%d", s.rounds, i), c.text, c.rest)
		s.actions++
	}
	s.rounds++
	s.e.drop()
	select {
	case <-s.e.ended:
	case <-time.After(time.Minute):
		s.t.Fatal("the connection did not end")
	}
	s.e.joined(s.t)
	s.e.exec(s.t, fmt.Sprint("last-", s.rounds), "true", "")
	await(s.t, s.d.m, "an end of the round", func(st control.Status) bool {
		p := project(st)
		return st.Counters.Waiting == 0 && p.State == control.Joined && len(p.Running) == 0 && p.Queued == 0 &&
			st.Counters.Finished == st.Counters.Received && st.Counters.Received > 0
	})
	s.e.mu.Lock()
	s.e.let = nil
	s.e.mu.Unlock()
	for len(s.e.heard) > 0 {
		<-s.e.heard
	}
}
