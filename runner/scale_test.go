package runner

import (
	"context"
	"fmt"
	"path/filepath"
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
func serveMany(t testing.TB, e *engine, n int, change ...func(*Options)) (stop func()) {
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
	for _, c := range change {
		c(&o)
	}
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

// BenchmarkThousandSessions is how long it takes until a thousand sessions have joined, and until all are back after
// their server dropped them, with the backoff as it is by default. Goal: back within 60 s. The floor is the join of all
// without anything in their way.
func BenchmarkThousandSessions(b *testing.B) {
	n := sessions(b)
	for b.Loop() {
		e := newEngineFor(b, n)
		began := time.Now()
		stop := serveMany(b, e, n, func(o *Options) { o.BackoffMax = time.Minute })
		joined := time.Since(began)
		began = time.Now()
		e.drop()
		e.joinedMany(b, n)
		back := time.Since(began)
		b.ReportMetric(joined.Seconds(), "s-to-joined")
		b.ReportMetric(back.Seconds(), "s-to-back")
		b.ReportMetric(float64(back)/float64(joined), "ratio")
		stop()
	}
}
