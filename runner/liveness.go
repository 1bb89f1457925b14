package runner

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"brabo.dev/runner/runner/failure"
)

// turn is the present turn of a loop: one thing that it does between two waits for something to do. It is what tells a
// loop that has nothing to do, which may be so for weeks, from one that is stuck.
type turn struct {
	due atomic.Int64 // when it should be over, in ns of the Machine's clock; zero: the loop waits for something to do
}

// The loops of a session.
const (
	turnConnect  = iota // connects, waits between two attempts, ends connections
	turnDispatch        // takes the messages of the server
	turnDeliver         // delivers results
	turns
)

var turnNames = [turns]string{"connecting", "receiving", "delivering"}

// busy notes that the loop begins something that may well wait for others, for as long as allowed.
func (s *session) busy(loop int, allowed time.Duration) {
	s.turns[loop].due.Store(int64(time.Since(s.m.began) + allowed))
}

// rests notes that the loop waits for something to do.
func (s *session) rests(loop int) { s.turns[loop].due.Store(0) }

// stuck names the loops that are busy with one thing for more than limit beyond what it may take.
func (s *session) stuck(now time.Time, limit time.Duration) []string {
	var names []string
	for i := range s.turns {
		if due := s.turns[i].due.Load(); due > 0 && now.Sub(s.m.began)-time.Duration(due) > limit {
			names = append(names, turnNames[i])
		}
	}
	return names
}

// Stuck names the sessions whose loops do not go round any more: that are busy with one thing for more than limit
// beyond what it may take by its own bounds. A session that is idle, or waits before its next attempt to connect, is
// alive. An empty text: all are.
func (m *Machine) Stuck(now time.Time, limit time.Duration) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []string
	for id, s := range m.sessions {
		if loops := s.stuck(now, limit); len(loops) > 0 {
			all = append(all, fmt.Sprintf("project %s (%s)", id, strings.Join(loops, ", ")))
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// stuckAfter is when a busy loop becomes a health item.
const stuckAfter = time.Minute

// stuckFailure is nil for a session that is alive.
func (s *session) stuckFailure(now time.Time) *failure.Failure {
	loops := s.stuck(now, stuckAfter)
	if len(loops) == 0 {
		return nil
	}
	return failure.New(failure.SessionStuck, "project "+s.project.ID).
		Because("%s does not go on for more than %v beyond its time", strings.Join(loops, ", "), stuckAfter)
}
