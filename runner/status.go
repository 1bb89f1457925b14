package runner

import (
	"cmp"
	"maps"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/machinepolicy"
)

// counts are what a Machine counts over all its projects; see control.Counters.
type counts struct{ received, started, finished, delivered, reconnects atomic.Uint64 }

// standing is how a session stands, for Status. The session's mutex guards it.
type standing struct {
	state        control.State
	since, until time.Time
	fail         *failure.Failure
	conn         *channel.Conn // of the last join
	granted      action.Extensions
}

// enter makes s the session of its project, for Status.
func (m *Machine) enter(s *session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions[s.project.ID] = s
}

// forget takes those projects out of Status.
func (m *Machine) forget(which func(id string) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.sessions, func(id string, _ *session) bool { return which(id) })
}

// ListFailed notes, for Status, why it can't be had which projects this machine serves; nil: it can.
func (m *Machine) ListFailed(f *failure.Failure) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unlisted = f
}

// listHealth is what is not well with the list of projects.
func listHealth(f *failure.Failure) []control.Item {
	switch {
	case f == nil:
		return nil
	case needsPerson(f.Name):
		return []control.Item{{Severity: control.Error, Failure: f}}
	}
	return []control.Item{{Severity: control.Warning, Failure: f}}
}

// connects notes that an attempt begins.
func (s *session) connects() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing.state, s.standing.since, s.standing.until = control.Connecting, time.Now(), time.Time{}
}

// joins notes that an attempt succeeded.
func (s *session) joins(l link) {
	if s.joined {
		s.m.counts.reconnects.Add(1)
	}
	s.joined = true
	s.listen()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing.state, s.standing.since, s.standing.conn, s.standing.granted = control.Joined, time.Now(), l.conn, l.granted
}

// parts notes why there is no connection and when the next attempt begins.
func (s *session) parts(r refusal, pause time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.standing.state = control.Waiting
	if r.person {
		s.standing.state = control.Refused
	}
	s.standing.since, s.standing.until, s.standing.fail = now, now.Add(pause), r.fail
}

// breaks notes that the project can't be served here.
func (s *session) breaks(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing.state, s.standing.since, s.standing.fail = control.Broken, time.Now(), failure.From(err, "project "+s.project.ID)
}

// begin notes that j runs now.
func (s *session) begin(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.began = time.Now()
}

// status is the session as Status tells it.
func (s *session) status() control.Project {
	held := s.m.held.of(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	st := &s.standing
	p := control.Project{
		ID: s.project.ID, Root: s.project.Root, State: st.state, Since: st.since, Until: st.until, Failure: st.fail,
		Running: []control.Running{}, Held: held,
	}
	if st.conn != nil {
		p.LastContact = st.conn.LastHeard()
	}
	if st.state == control.Joined {
		for _, e := range st.granted {
			p.Extensions = append(p.Extensions, string(e))
		}
	}
	for _, j := range s.jobs {
		if j.began.IsZero() {
			p.Queued++
			if slices.ContainsFunc(held, func(h control.Held) bool { return h.Ref == j.key.ref && h.Event == j.key.event }) {
				p.Queued--
			}
			continue
		}
		p.Running = append(p.Running, control.Running{Event: j.key.event, Ref: j.key.ref, Since: j.began})
	}
	slices.SortFunc(p.Running, func(a, b control.Running) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.Ref, b.Ref))
	})
	return p
}

// Status tells how the daemon stands now, but for what it does not know: Version, PID, Since, Folder and Journal. It
// may be called at any time by many.
func (m *Machine) Status() control.Status {
	m.mu.Lock()
	sessions, unlisted := slices.Collect(maps.Values(m.sessions)), m.unlisted
	m.mu.Unlock()
	s := control.Status{
		Server: m.o.Server, Stopping: m.stopping.Load(), Projects: []control.Project{}, Health: []control.Item{},
		Memory: memory(), Goroutines: runtime.NumGoroutine(),
		Counters: control.Counters{
			Received: m.counts.received.Load(), Started: m.counts.started.Load(), Finished: m.counts.finished.Load(),
			Delivered: m.counts.delivered.Load(), Reconnects: m.counts.reconnects.Load(),
		},
	}
	now := time.Now()
	for _, each := range sessions {
		p := each.status()
		p.Terminals = each.openTerminals()
		s.Projects = append(s.Projects, p)
		if f := each.stuckFailure(now); f != nil {
			s.Health = append(s.Health, control.Item{Severity: control.Error, Failure: f})
		}
	}
	slices.SortFunc(s.Projects, func(a, b control.Project) int { return strings.Compare(a.ID, b.ID) })
	for _, p := range s.Projects {
		s.Health = append(s.Health, m.health(p)...)
	}
	if m.o.Lock != nil {
		if _, err := m.o.Lock(""); err != nil {
			s.Health = append(s.Health, control.Item{Severity: control.Error, Failure: failure.From(err, machinepolicy.FileName)})
		}
	}
	s.Health = append(s.Health, listHealth(unlisted)...)
	waiting, err := m.o.Ledger.Waiting(m.o.Server, "")
	if err != nil {
		s.Health = append(s.Health, control.Item{Severity: control.Error, Failure: failure.From(err, "outbox")})
	}
	s.Counters.Waiting = waiting
	if e := m.engines.now(); e != nil {
		f := e.Facts()
		s.Engine = &control.Engine{Name: f.Name, Version: f.Version, API: f.API, Address: e.Address(), Facts: f.String()}
	}
	control.SortHealth(s.Health)
	return s
}

// health is what is not well with a project.
func (m *Machine) health(p control.Project) []control.Item {
	var items []control.Item
	switch {
	case p.State == control.Refused || p.State == control.Broken:
		items = append(items, control.Item{Severity: control.Error, Failure: p.Failure})
	case p.State != control.Joined && p.Failure != nil:
		items = append(items, control.Item{Severity: control.Warning, Failure: p.Failure})
	}
	if m.o.Folder.AllowHomeRoot && p.Root == m.o.Folder.Home {
		items = append(items, control.Item{Severity: control.Warning, Failure: failure.New(failure.HomeAsRoot, p.Root)})
	}
	return items
}

// memory is what the runtime uses.
func memory() control.Memory {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}}
	metrics.Read(samples)
	return control.Memory{Heap: samples[0].Value.Uint64(), Total: samples[1].Value.Uint64()}
}
