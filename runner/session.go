package runner

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/journal"
	"brabo.dev/runner/workspace"
)

// session serves one project: it connects, joins, dispatches and reports, and does so again when the connection
// ends. Its state is touched by run's goroutine alone, but for what the mutex guards.
type session struct {
	m       *Machine
	project Project
	folder  workspace.Folder
	log     *slog.Logger
	joined  bool // at least once
	// slept and moved are closed by what has happened to the machine and its network since the last attempt began or
	// succeeded.
	slept, moved <-chan struct{}
	// left are actions that an earlier daemon received and did not begin.
	left []journal.Unfinished
	// mirror remembers the last round; the pool lets one round of a project run at a time.
	mirror *workspace.Mirror
	// work is the lifetime of actions: it outlives connections, and the wish to stop by the grace of the drain.
	work    context.Context
	abandon context.CancelFunc
	// wake tells the delivery that something became due, and flushed the drain that something was delivered. Each
	// holds one token: more would say nothing more.
	wake, flushed chan struct{}
	terminals     sync.WaitGroup // those of all connections, until each has ended

	mu       sync.Mutex      // guards what follows
	jobs     map[jobKey]*job // waiting and running actions
	draining bool
	ended    Ended         // since draining
	idle     chan struct{} // closed when draining and jobs is empty
	reported map[string]bool
	led      map[string]string // where each folder beside the root led at first
	live     *link             // the joined connection; nil between two
	standing standing

	turns [turns]turn
}

func newSession(m *Machine, p Project, left []journal.Unfinished) *session {
	return &session{
		m: m, project: p, left: left, log: m.o.Log.With("project", p.ID), wake: make(chan struct{}, 1), flushed: make(chan struct{}, 1),
		jobs: map[jobKey]*job{}, idle: make(chan struct{}), reported: map[string]bool{}, led: map[string]string{},
		standing: standing{state: control.Connecting, since: time.Now()},
	}
}

// run serves until ctx ends and the drain is over, or the project is no longer wanted when a connection has ended. Its
// error is a named failure.
func (s *session) run(ctx context.Context, wanted func() bool) error {
	folder, err := workspace.Materialize(s.project.Root, s.m.o.Folder)
	if err != nil {
		s.log.Error("the project folder can't be used", "failure", err)
		s.breaks(err)
		return err
	}
	s.folder = folder
	s.work, s.abandon = context.WithCancel(context.WithoutCancel(ctx))
	defer s.abandon()

	for _, u := range s.left {
		s.resume(u)
	}
	wait := backoff{max: s.m.o.BackoffMax}
	var since time.Time // of a refusal as second runner, without a join in between
	for ctx.Err() == nil && wanted() {
		began := time.Now()
		s.connects()
		s.listen()
		err := s.attempt(ctx)
		if ctx.Err() != nil {
			break
		}
		wait.lived(time.Since(began), s.m.o.StableAfter)
		r := judge(err, s.project.ID)
		since = s.patience(&r, since, began)
		pause := wait.next(r.after)
		s.parts(r, pause)
		if r.person && !s.joined && s.m.o.LeaveOnRefusal {
			return r.fail
		}
		s.log.Warn("not connected", "failure", r.fail, "again_in", pause.Round(time.Millisecond))
		if s.pause(ctx, pause, r.after == 0) {
			wait.reset()
		}
	}
	s.rests(turnConnect)
	s.drain()
	s.terminals.Wait()
	if ctx.Err() != nil {
		s.account()
	}
	return nil
}

// listen makes pause hear of what happens from now on.
func (s *session) listen() { s.slept, s.moved = s.m.suspends.next(), s.m.networks.next() }

// pause waits before the next attempt. The end of ctx and a sleep of the machine cut it short, and where the server asked
// for no wait, so does a new network. It reports whether what failed before says nothing about now.
func (s *session) pause(ctx context.Context, d time.Duration, hasty bool) (anew bool) {
	s.rests(turnConnect)
	moved := s.moved
	if !hasty {
		moved = nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-s.slept:
		return true
	case <-moved:
		return true
	}
	return false
}

// patience keeps a refusal as second runner from counting as a conflict while it may be our own last connection that
// the server has not given up yet. It returns when the row of such refusals began.
func (s *session) patience(r *refusal, since, now time.Time) time.Time {
	if r.fail.Name != failure.SecondRunner {
		return time.Time{}
	}
	if since.IsZero() {
		since = now
	}
	if now.Sub(since) < secondRunnerFor {
		r.person = false
	} else {
		r.after = slowly
	}
	return since
}

// jobKey names an action among those of its session.
type jobKey struct{ event, ref string }

// add registers a job for cancellation; false while draining.
func (s *session) add(j *job) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	s.jobs[j.key] = j
	return true
}

// done forgets a job.
func (s *session) done(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.jobs, j.key)
	s.noteIdleLocked()
}

func (s *session) noteIdleLocked() {
	if s.draining && len(s.jobs) == 0 {
		select {
		case <-s.idle:
		default:
			close(s.idle)
		}
	}
}

// finish stores the answer to an action and has it delivered. It reports whether it is stored.
func (s *session) finish(in incoming, answer any) bool {
	raw, err := marshal(answer)
	if err == nil {
		if needsCleaning(answer) {
			raw = s.secrets(in).JSON(raw)
		}
		err = s.m.o.Ledger.Finish(s.key(in), journal.Result{Event: in.answerEvent, Payload: raw})
	}
	if err != nil {
		s.log.Error("a result could not be stored", "ref", in.ref, "failure", failure.From(err, "action "+in.ref))
		s.tally(func(e *Ended) { e.Unstored++ })
		return false
	}
	s.tally(func(e *Ended) { e.count(raw) })
	s.m.counts.finished.Add(1)
	poke(s.wake)
	return true
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (s *session) key(in incoming) journal.Key {
	return journal.Key{Server: s.m.o.Server, Project: s.project.ID, Event: in.event, Ref: in.ref}
}

// confirmable reports whether the server can be told the project folder. A server with extensions takes any folder
// that was confirmed on this machine; another one applies the test of protocol.md 7.2 and never tells the outcome, so
// the same test is applied here and its failure shown.
func (s *session) confirmable(granted action.Extensions) bool {
	if len(granted) > 0 {
		return true
	}
	if err := workspace.Confirmable(s.folder.Path); err != nil {
		s.log.Warn("the folder was not confirmed to the server", "failure", err)
		return false
	}
	return true
}
