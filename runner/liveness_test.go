package runner

import (
	"context"
	"testing"
	"time"

	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/journal"
)

// stuckLedger does not come back from Receive until it is let go.
type stuckLedger struct {
	Ledger
	entered, letGo chan struct{}
}

func (l *stuckLedger) Receive(a journal.Action) (journal.Known, error) {
	l.entered <- struct{}{}
	<-l.letGo
	return l.Ledger.Receive(a)
}

// awaitAlive waits until no loop is in a turn, so that none could count as stuck however late it became.
func awaitAlive(t *testing.T, m *Machine) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for tick := time.NewTicker(2 * time.Millisecond); ; <-tick.C {
		stuck := m.Stuck(time.Now().Add(24*time.Hour), time.Minute)
		if stuck == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("stuck:", stuck)
		}
	}
}

func TestLoopThatDoesNotComeBackIsStuckAndAnIdleOneIsNot(t *testing.T) {
	e := newEngine(t)
	l := &stuckLedger{Ledger: &MemoryLedger{}, entered: make(chan struct{}), letGo: make(chan struct{})}
	d := startDaemon(t, e, func(o *Options) { o.Ledger = l })
	e.joined(t)
	awaitAlive(t, d.m)
	e.exec(t, "a", "true", "")
	<-l.entered
	later := time.Now().Add(2 * time.Minute)
	if got := d.m.Stuck(later, time.Minute); got != "project p (receiving)" {
		t.Errorf("stuck: %q", got)
	}
	if got := d.m.Stuck(time.Now(), time.Minute); got != "" {
		t.Errorf("stuck already: %q", got)
	}
	d.m.mu.Lock()
	failuretest.Produced(t, d.m.sessions["p"].stuckFailure(later), failure.SessionStuck)
	d.m.mu.Unlock()
	close(l.letGo)
	e.result(t)
	awaitAlive(t, d.m)
}

func TestSessionThatWaitsForItsNextAttemptIsAlive(t *testing.T) {
	e := newEngine(t)
	e.refuse = func(int) string { return "not today" }
	d := startDaemon(t, e)
	await(t, d.m, "the refusal", func(s control.Status) bool { return project(s).State == control.Refused })
	awaitAlive(t, d.m)
}

func TestSessionThatWaitsForTheServerHasItsTime(t *testing.T) {
	e := newEngine(t)
	asked, answer := make(chan struct{}), make(chan struct{})
	d := startDaemon(t, e, func(o *Options) {
		address := o.Address
		o.Address = func(ctx context.Context, project string) (Address, error) {
			asked <- struct{}{}
			<-answer
			return address(ctx, project)
		}
	})
	<-asked
	for after, want := range map[time.Duration]string{
		connectTime: "", connectTime + 2*time.Minute: "project p (connecting)",
	} {
		if got := d.m.Stuck(time.Now().Add(after), time.Minute); got != want {
			t.Errorf("after %v: %q", after, got)
		}
	}
	close(answer)
	e.joined(t)
	awaitAlive(t, d.m)
}
