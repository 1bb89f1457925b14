package runner

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// await asks for the status until it is as wanted.
func await(t *testing.T, m *Machine, what string, wanted func(control.Status) bool) control.Status {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for tick := time.NewTicker(2 * time.Millisecond); ; <-tick.C {
		s := m.Status()
		if wanted(s) {
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("the status never told %s: %+v", what, s)
		}
	}
}

// project gives the only project of a status.
func project(s control.Status) control.Project {
	if len(s.Projects) != 1 {
		return control.Project{}
	}
	return s.Projects[0]
}

func TestStatusTellsWhatRunsAndWhatWaits(t *testing.T) {
	e := newEngine(t, action.Known()...)
	began := time.Now()
	d := startDaemon(t, e, func(o *Options) { o.Commands.Parallel = 1 })
	e.joined(t)
	for _, ref := range []string{"first", "second", "third"} {
		e.exec(t, ref, "while [ ! -e go ]; do sleep 0.01; done", "")
	}
	s := await(t, d.m, "one running action and two waiting ones", func(s control.Status) bool {
		return len(project(s).Running) == 1 && project(s).Queued == 2
	})
	p := s.Projects[0]
	// All but typed actions and ended terminals: this daemon has neither a git nor terminals.
	if p.ID != "p" || p.Root != d.root || p.State != control.Joined || p.Failure != nil || len(p.Extensions) != len(action.Known())-2 {
		t.Errorf("%+v", p)
	}
	if r := p.Running[0]; r.Event != "exec" || r.Ref != "first" || r.Since.Before(began) || p.LastContact.Before(began) || p.Since.Before(began) {
		t.Errorf("%+v", p)
	}
	if s.Server != e.URL || len(s.Health) != 0 || s.Goroutines == 0 || s.Memory.Heap == 0 || s.Memory.Total < s.Memory.Heap || s.Stopping {
		t.Errorf("%+v", s)
	}
	if err := os.WriteFile(filepath.Join(d.root, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want := control.Counters{Received: 3, Started: 3, Finished: 3, Delivered: 3}
	await(t, d.m, "that all was delivered", func(s control.Status) bool { return s.Counters == want })
	e.exec(t, "first", "while [ ! -e go ]; do sleep 0.01; done", "") // known: nothing but its delivery counts
	want.Delivered++
	await(t, d.m, "the second delivery", func(s control.Status) bool { return s.Counters == want })
	e.drop()
	e.joined(t)
	s = await(t, d.m, "the second join", func(s control.Status) bool { return s.Counters.Reconnects == 1 })
	failuretest.Produced(t, s.Projects[0].Failure, failure.ConnectionLost) // the last one is kept
	if len(s.Health) > 0 {
		t.Errorf("%+v", s.Health)
	}
}

func TestStatusTellsWhyAProjectIsNotServed(t *testing.T) {
	for name, c := range map[string]struct {
		refuse   func(int) string
		want     failure.Name
		state    control.State
		severity control.Severity
	}{
		"for a person":   {func(int) string { return "este projeto exige a(s) capacidade(s) x" }, failure.CapabilityMissing, control.Refused, control.Error},
		"for the moment": {func(int) string { return reasonSecondRunner }, failure.SecondRunner, control.Waiting, control.Warning},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t)
			e.refuse = c.refuse
			d := startDaemon(t, e)
			s := await(t, d.m, "the refusal", func(s control.Status) bool { return project(s).State == c.state })
			p := s.Projects[0]
			failuretest.Produced(t, p.Failure, c.want)
			if !p.Until.After(p.Since) || !p.LastContact.IsZero() {
				t.Errorf("%+v", p)
			}
			if len(s.Health) != 1 || s.Health[0].Severity != c.severity || s.Health[0].Failure != p.Failure {
				t.Errorf("%+v", s.Health)
			}
		})
	}
}

func TestStatusKeepsABrokenProjectForAsLongAsItIsListed(t *testing.T) {
	e, base := newEngine(t), t.TempDir()
	broken := Project{"broken", filepath.Join(base, "file")}
	if err := os.WriteFile(broken.Root, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	lists, done := make(chan []Project), make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	m := New(testOptions(t, e, base, &logBook{}))
	go func() { done <- m.Run(ctx, lists) }()
	lists <- []Project{broken}
	s := await(t, m, "the broken project", func(s control.Status) bool { return project(s).State == control.Broken })
	failuretest.Produced(t, s.Health[0].Failure, failure.RootNotFolder)
	if s.Health[0].Severity != control.Error {
		t.Errorf("%+v", s.Health)
	}
	lists <- nil
	await(t, m, "an end of it", func(s control.Status) bool { return len(s.Projects) == 0 && len(s.Health) == 0 })
	cancel() // with no session left the stop is over before anyone could see it
	failuretest.Produced(t, <-done, failure.RootNotFolder)
}

func TestStatusTellsThatTheDaemonStopsWhileAnActionMayStillFinish(t *testing.T) {
	e := newEngine(t, action.Known()...)
	d := startDaemon(t, e)
	e.joined(t)
	e.exec(t, "last", "while [ ! -e go ]; do sleep 0.01; done", "")
	await(t, d.m, "that it runs", func(s control.Status) bool { return len(project(s).Running) == 1 })
	d.stop()
	s := await(t, d.m, "the stop", func(s control.Status) bool { return s.Stopping })
	if p := project(s); len(p.Running) != 1 || p.Running[0].Ref != "last" {
		t.Errorf("%+v", p)
	}
	if err := os.WriteFile(filepath.Join(d.root, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.wait(t); err != nil {
		t.Error(err)
	}
	if ended := d.m.Ended(); ended != (Ended{Finished: 1}) {
		t.Errorf("%+v", ended)
	}
}

func TestStatusTellsWhyThereIsNoListOfProjects(t *testing.T) {
	m := New(testOptions(t, newEngine(t), t.TempDir(), &logBook{}))
	for name, want := range map[failure.Name]control.Severity{failure.TicketRefused: control.Error, failure.ServerUnavailable: control.Warning} {
		m.ListFailed(failure.New(name, "the list of projects"))
		health := m.Status().Health
		if len(health) != 1 || health[0].Severity != want {
			t.Fatalf("%+v", health)
		}
		failuretest.Produced(t, health[0].Failure, name)
	}
	m.ListFailed(nil)
	if health := m.Status().Health; len(health) != 0 {
		t.Errorf("%+v", health)
	}
}

func TestHomeAsRootIsALastingHealthItem(t *testing.T) {
	e := newEngine(t)
	d := startDaemon(t, e, func(o *Options) {
		o.Folder.Home, o.Folder.AllowHomeRoot = filepath.Join(o.Folder.Roots[0], "project"), true
	})
	e.joined(t)
	s := await(t, d.m, "the home", func(s control.Status) bool { return len(s.Health) == 1 })
	failuretest.Produced(t, s.Health[0].Failure, failure.HomeAsRoot)
}
