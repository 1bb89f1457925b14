package hub

import (
	"testing"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// inContainer is a hub with a project of mode container.
func inContainer(t *testing.T) *testHub {
	t.Helper()
	return serveHub(t, Config{WorkspacesRoot: t.TempDir(), Projects: []Project{{ID: "p", Name: "Shop", Mode: ModeContainer, DirName: "shop-1"}}})
}

// container registers a state of the project's container, as an action of its kind does.
func (h *testHub) container(t *testing.T, state string) {
	t.Helper()
	err := h.store.Update(func(tx store.Tx) error {
		return tx.PutContainer(store.Container{Project: "p", Name: "brabo-shop-1", State: state, Spec: []byte(`{}`), Changed: time.Now()})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// asks proposes what a person has to decide, also inside of a container.
func (h *testHub) asks(t *testing.T, environment string) Action {
	t.Helper()
	a := h.propose(t, "git push")
	if a.Status != Pending || a.Environment != environment {
		t.Fatalf("%s in %q, want %q", a.Status, a.Environment, environment)
	}
	return a
}

func (h *testHub) approves(t *testing.T, id string) {
	t.Helper()
	if _, err := h.Approve(id, "ana"); err != nil {
		t.Fatal(err)
	}
}

func (h *testHub) failsOutside(t *testing.T, id string) {
	t.Helper()
	a := h.wait(t, id)
	if a.Status != Failed {
		t.Fatalf("%+v", a)
	}
	failuretest.Produced(t, a.Outcome.Failure, failure.ContainerGone)
}

func TestPersonsYesForTheContainerSaysSoToTheRunner(t *testing.T) {
	h := inContainer(t)
	r := h.runner(t, action.Known()...)
	h.container(t, containerRunning)
	a := h.asks(t, action.InContainer)
	h.approves(t, a.ID)
	m := r.exec(t)
	if m.Ref != a.ID || m.Decision.Kind != "human" || m.Decision.Environment != action.InContainer {
		t.Errorf("%+v %+v", m, m.Decision)
	}
	// It was sent: what became of it is the runner's to say, also after it came back.
	h.container(t, containerStopped)
	r.conn.Close()
	h.gone(t)
	r = h.runner(t, action.Known()...)
	if m := r.exec(t); m.Ref != a.ID || m.Decision.Environment != action.InContainer {
		t.Errorf("%+v %+v", m, m.Decision)
	}
	r.finish(t, a.ID, 0)
	if a = h.wait(t, a.ID); a.Status != Executed || a.Environment != action.InContainer {
		t.Errorf("%+v", a)
	}
}

// TestPersonsYesForTheContainerRunsNowhereElse has a runner that could not tell: it knows no decisions.
func TestPersonsYesForTheContainerRunsNowhereElse(t *testing.T) {
	for name, proposedIn := range map[string]string{"shown at the proposal": containerRunning, "begun before the approval": containerStopped} {
		t.Run(name, func(t *testing.T) {
			h := inContainer(t)
			r := h.runner(t, action.ExtAck)
			h.container(t, proposedIn)
			want := map[string]string{containerRunning: action.InContainer}[proposedIn]
			waits := h.asks(t, want)
			gone := h.asks(t, want)

			r.conn.Close()
			h.gone(t)
			h.container(t, containerRunning)
			h.approves(t, waits.ID)
			h.container(t, containerStopped)
			if want != "" {
				h.approves(t, gone.ID)
			}
			r = h.runner(t, action.ExtAck)
			h.failsOutside(t, waits.ID)
			if want != "" {
				h.failsOutside(t, gone.ID)
			}

			// The next thing that the runner hears of is one that was allowed for where it runs.
			host := h.asks(t, "")
			h.approves(t, host.ID)
			if m := r.exec(t); m.Ref != host.ID {
				t.Errorf("%+v", m)
			}
			r.finish(t, host.ID, 0)
		})
	}
}

func TestRulesYesForTheContainerIsNotSentOnceItIsGone(t *testing.T) {
	h := inContainer(t)
	r := h.runner(t, action.ExtAck)
	r.conn.Close()
	h.gone(t)
	h.container(t, containerRunning)
	a := h.propose(t, "touch x")
	if a.Status != AutoApproved || a.Rule != policy.ContainerFloor {
		t.Fatalf("%+v", a)
	}
	h.container(t, containerStopped)
	h.runner(t, action.ExtAck)
	h.failsOutside(t, a.ID)
}

// TestYesForTheHostGoesWhereTheCommandsRun: a container that came meanwhile bounds more than the host (protocol.md 4.1).
func TestYesForTheHostGoesWhereTheCommandsRun(t *testing.T) {
	h := inContainer(t)
	r := h.runner(t, action.Known()...)
	a := h.asks(t, "")
	r.conn.Close()
	h.gone(t)
	h.approves(t, a.ID)
	h.container(t, containerRunning)
	r = h.runner(t, action.Known()...)
	if m := r.exec(t); m.Ref != a.ID || m.Decision.Environment != "" {
		t.Errorf("%+v %+v", m, m.Decision)
	}
	r.finish(t, a.ID, 0)
}
