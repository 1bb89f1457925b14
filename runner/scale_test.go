package runner

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// sessions is how many a test of scale runs: a thousand is a supported size (design.md); the race detector gets fewer.
func sessions(testing.TB) int {
	if raceEnabled {
		return 200
	}
	return 1000
}

// serveMany runs a daemon with n projects against e and returns when all have joined.
func serveMany(t testing.TB, e *engine, n int) (stop func()) {
	t.Helper()
	base := t.TempDir()
	var projects []Project
	for i := range n {
		id := fmt.Sprint("project-", i)
		projects = append(projects, Project{id, filepath.Join(base, id)})
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	o := testOptions(t, e, base, &logBook{})
	o.BackoffMax = 2 * time.Second
	go func() { done <- New(o).Run(ctx, Fixed(projects...)) }()
	e.joinedMany(t, n)
	return func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("the daemon did not end")
		}
	}
}

// joinedMany waits for n joins.
func (e *engine) joinedMany(t testing.TB, n int) {
	t.Helper()
	timeout := time.After(3 * time.Minute)
	for i := range n {
		select {
		case <-e.ready:
		case <-timeout:
			t.Fatalf("%d of %d joined", i, n)
		}
	}
}

// endedAll waits until every join that was let in has ended.
func (e *engine) endedAll(t testing.TB) {
	t.Helper()
	timeout := time.After(time.Minute)
	for i := range len(e.topics()) {
		select {
		case <-e.ended:
		case <-timeout:
			t.Fatalf("%d of %d joins have ended", i, len(e.topics()))
		}
	}
}

func TestFaultThousandSessionsComeBackAfterTheServerDroppedThem(t *testing.T) {
	n := sessions(t)
	e := newEngineFor(t, n)
	stop := serveMany(t, e, n)
	e.drop()
	e.joinedMany(t, n)
	stop()
	e.endedAll(t)
}

// BenchmarkThousandSessions is what a thousand idle sessions cost the daemon, the server's half in the same process
// included. Goal: under 60 KB each for the daemon alone.
func BenchmarkThousandSessions(b *testing.B) {
	n := sessions(b)
	for b.Loop() {
		e := newEngineFor(b, n)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		began := time.Now()
		stop := serveMany(b, e, n)
		joined := time.Since(began)
		runtime.GC()
		runtime.ReadMemStats(&after)
		used := after.HeapInuse + after.StackInuse - before.HeapInuse - before.StackInuse
		b.ReportMetric(float64(used)/float64(n)/1024, "KiB/session-both-halves")
		b.ReportMetric(joined.Seconds(), "s-to-joined")
		stop()
	}
}
