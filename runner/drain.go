package runner

import (
	"encoding/json"
	"time"

	"brabo.dev/runner/runner/failure"
)

// Ended says what became of the work that there was when the daemon was told to stop.
type Ended struct {
	Finished    int // actions that ended by themselves
	Cancelled   int // actions that were ended, because the grace was over or the server wished it
	Unstored    int // actions whose result could not be stored; the next start finishes them as interrupted
	Undelivered int // results that the server is not known to have read; they are sent after the next join
}

// count takes the result of one action in.
func (e *Ended) count(result json.RawMessage) {
	var r struct{ Failure struct{ Name failure.Name } }
	if err := json.Unmarshal(result, &r); err != nil {
		r.Failure.Name = "" // a result of any other form is one, too
	}
	switch r.Failure.Name {
	case failure.Cancelled:
		e.Cancelled++
	case failure.Draining: // it came after the stop, and was not taken
	default:
		e.Finished++
	}
}

// Ended is known when Run has returned.
func (m *Machine) Ended() Ended {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ended
}

// tally counts what ends after the stop.
func (s *session) tally(change func(*Ended)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		change(&s.ended)
	}
}

// account adds up what became of the session's work, once its drain is over.
func (s *session) account() {
	due, err := s.m.o.Ledger.Waiting(s.m.o.Server, s.project.ID)
	if err != nil {
		s.log.Error("the outbox can't be read", "failure", failure.From(err, "outbox"))
	}
	if due > 0 {
		s.log.Warn("stopped with results that could not be delivered", "results", due)
	}
	s.mu.Lock()
	mine := s.ended
	s.mu.Unlock()
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	e := &s.m.ended
	e.Finished += mine.Finished
	e.Cancelled += mine.Cancelled
	e.Unstored += mine.Unstored
	e.Undelivered += due
}

// drain takes no more actions, lets the jobs end within the grace and ends the rest. It returns when none is left.
func (s *session) drain() {
	s.mu.Lock()
	s.draining = true
	s.noteIdleLocked()
	s.mu.Unlock()
	s.endHeld()
	s.mu.Lock()
	left := len(s.jobs)
	s.mu.Unlock()
	if left > 0 {
		s.log.Info("stopping: waiting for running actions", "actions", left, "grace", s.m.o.DrainGrace)
	}
	grace := time.NewTimer(s.m.o.DrainGrace)
	defer grace.Stop()
	select {
	case <-s.idle:
		return
	case <-grace.C:
	}
	for _, j := range s.snapshot() {
		j.end(failure.New(failure.Cancelled, "action "+j.key.ref).Because("the daemon was stopped before it ended"))
	}
	s.abandon()
	<-s.idle
}

func (s *session) snapshot() []*job {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*job, 0, len(s.jobs))
	for _, j := range s.jobs {
		all = append(all, j)
	}
	return all
}
