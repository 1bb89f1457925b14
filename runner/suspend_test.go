package runner

import (
	"context"
	"testing"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestSleepIsToldFromTheOrdinaryPassingOfTime(t *testing.T) {
	start := time.Date(2026, 12, 2, 8, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name            string
		wall, monotonic time.Duration // since the last tick
		slept           bool
	}{
		{"a tick", 2 * time.Second, 2 * time.Second, false},
		{"a late tick on a busy machine", time.Minute, time.Minute, false},
		{"the clock is set back", -time.Hour, 2 * time.Second, false},
		{"the clock is corrected a little", 3 * time.Second, 2 * time.Second, false},
		{"a night", 8 * time.Hour, 2 * time.Second, true},
		{"the clock is set forward", time.Hour, 2 * time.Second, true},
	} {
		readings := make(chan clocks, 3)
		readings <- clocks{start, 0}
		readings <- clocks{start.Add(c.wall), c.monotonic}
		readings <- clocks{start.Add(c.wall), c.monotonic}
		ticks, heard := make(chan time.Time), make(chan time.Duration, 1)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			watchSuspends(ctx, ticks, func() clocks { return <-readings }, func(d time.Duration) { heard <- d })
		}()
		ticks <- time.Time{}
		ticks <- time.Time{} // taken only after the first was judged
		cancel()
		<-done
		if got := len(heard) == 1; got != c.slept {
			t.Errorf("%s: slept %v", c.name, got)
		}
	}
}

func TestEverySessionHearsOfASleep(t *testing.T) {
	var s broadcast
	first, second := s.next(), s.next()
	s.tell()
	<-first
	<-second
	select {
	case <-s.next():
		t.Error("the next sleep was announced too")
	default:
	}
}

func TestConnectionIsTestedAfterASleep(t *testing.T) {
	e := newEngine(t)
	d := startDaemon(t, e, func(o *Options) { o.Dialer = &channel.Dialer{Heartbeat: time.Hour} })
	e.joined(t)
	before := await(t, d.m, "the join", func(s control.Status) bool { return project(s).State == control.Joined })
	await(t, d.m, "an answer", func(s control.Status) bool {
		d.m.wakeUp()
		return project(s).LastContact.After(before.Projects[0].LastContact)
	})
}

func TestWhatWaitedThroughASleepDoesNotStart(t *testing.T) {
	p, tr := newPool(1, 100), &trace{}
	hold := make(chan struct{})
	p.submit(tr.job(p, "a", "first", hold))
	slept := tr.job(p, "a", "slept", hold)
	// The monotonic part says that there is time left, the wall clock that there is none.
	slept.startBy = time.Now().Add(time.Hour)
	refused := make(chan *failure.Failure, 1)
	slept.refuse = func(f *failure.Failure) { refused <- f }
	p.submit(slept)
	p.expire(time.Now().Add(2 * time.Hour))
	failuretest.Produced(t, <-refused, failure.ExpiredBeforeStart)
	close(hold)
	p.wait()

	now := time.Now()
	if !late(now.Add(time.Hour), now.Add(2*time.Hour)) || late(now.Add(time.Hour), now) || late(time.Time{}, now) {
		t.Error("late is wrong")
	}
	wallOnly := now.Add(time.Hour).Round(0) // as a clock reads that slept an hour
	if !late(now.Add(30*time.Minute), wallOnly) {
		t.Error("a time that passed during a sleep counts as future")
	}
}
