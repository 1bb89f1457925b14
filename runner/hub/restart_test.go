package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

func TestRefusalsOfPeopleAndThingsAreNamed(t *testing.T) {
	h := newRuledHub(t)
	owner := Principal{Kind: kindPerson, ID: "ana", Role: policy.Owner}
	if _, err := h.AddMember(owner.actor(), "bia", policy.Developer); err != nil {
		t.Fatal(err)
	}
	_, err := h.AddMember(owner.actor(), "bia", policy.Viewer)
	failuretest.Produced(t, err, failure.AlreadyExists)
	failuretest.Produced(t, h.RemoveMember(owner.actor(), "ana"), failure.LastOwner)
	failuretest.Produced(t, h.SetRole(owner.actor(), "ana", policy.Viewer), failure.LastOwner)
	failuretest.Produced(t, h.RemoveMember(owner.actor(), "nobody"), failure.NotFound)
	failuretest.Produced(t, h.RemoveAgent(owner, "", "nobody"), failure.NotFound)
	failuretest.Produced(t, h.RevokeDaemon(owner, "nobody"), failure.NotFound)
	push, err := h.Propose(Proposal{ProjectID: "p", Type: "git_push", Params: json.RawMessage(`{"branch":"x"}`)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.Approve(push.ID, "bia") // a maintainer's to decide
	failuretest.Produced(t, err, failure.Forbidden)
	_, err = h.AlwaysAllow(push.ID, "ana")
	failuretest.Produced(t, err, failure.AlwaysAllowRefused)
}

func TestContainerActionWithoutAServiceIsRefusedBeforeItExists(t *testing.T) {
	h := newRuledHub(t)
	owner := Principal{Kind: kindPerson, ID: "ana", Role: policy.Owner}
	for _, id := range []string{"token", "machine", "bound"} {
		if err := h.RevokeDaemon(owner, id); err != nil {
			t.Fatal(err)
		}
	}
	_, err := h.Propose(Proposal{ProjectID: "p", Type: "container_stop"})
	failuretest.Produced(t, err, failure.NoContainerService)
	if all := h.List(""); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

func TestOutcomeThatNobodyReportsEndsTheActionByName(t *testing.T) {
	h := newRuledHub(t)
	h.permissions(t, `{"allow":["OpenAdrPr()"]}`)
	h.c.OutcomeDeadline = time.Millisecond
	a, err := h.Propose(Proposal{ProjectID: "p", Type: "open_adr_pr"})
	if err != nil || a.Status != AutoApproved {
		t.Fatal(a, err)
	}
	failuretest.Produced(t, h.wait(t, a.ID).Outcome.Failure, failure.NoOutcomeReported)
}

func TestRunnerThatKnowsNoTypedActionsIsNamed(t *testing.T) {
	h := newRuledHub(t)
	h.permissions(t, `{"allow":["WriteFile()"]}`)
	h.runner(t, action.ExtAck)
	a, err := h.Propose(Proposal{ProjectID: "p", Type: "write_file", Params: json.RawMessage(`{"path":"x","content":"y"}`)})
	if err != nil {
		t.Fatal(err)
	}
	failuretest.Produced(t, h.wait(t, a.ID).Outcome.Failure, failure.TypedActionsMissing)
}

func TestActionGoesOnAfterTheHubWasRestarted(t *testing.T) {
	folder, root := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(root, policy.FileName), []byte(`{"allow":["Terminal(ls)"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func() *testHub {
		s, err := store.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		h := serveHub(t, Config{Store: s, Projects: []Project{{ID: "p", Mode: ModeMounted, Root: root}}})
		t.Cleanup(func() {
			if err := errors.Join(h.Close(context.Background()), s.Close()); err != nil {
				t.Error(err)
			}
		})
		return h
	}
	stop := func(h *testHub) {
		if err := errors.Join(h.Close(context.Background()), h.store.Close()); err != nil {
			t.Fatal(err)
		}
	}
	h := start()
	r := h.runner(t, action.Known()...)
	propose := func(command string, env map[string]string) Action {
		a, err := h.Propose(Proposal{ProjectID: "p", Type: "terminal", Command: command, Env: env})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	sent := propose("ls", nil)
	r.exec(t)
	asks, denied, lost := propose("make", nil), propose("make x", nil), propose("make y", map[string]string{"K": "secret"})
	stop(h)

	h = start()
	failuretest.Produced(t, func() error { _, err := h.Propose(Proposal{ProjectID: "p", Type: "terminal", Command: ""}); return err }(), failure.BadRequest)
	if _, err := h.Approve(asks.ID, "ana"); err != nil { // before its runner is back
		t.Fatal(err)
	}
	if _, err := h.Approve(lost.ID, "ana"); err != nil {
		t.Fatal(err)
	}
	failuretest.Produced(t, h.wait(t, lost.ID).Outcome.Failure, failure.EnvironmentLost)
	if _, err := h.Deny(denied.ID, "ana", "no"); err != nil {
		t.Fatal(err)
	}
	r = h.runner(t, action.Known()...)
	for _, want := range []string{sent.ID, asks.ID} {
		if m := r.exec(t); m.Ref != want {
			t.Errorf("sent %s, want %s", m.Ref, want)
		}
		r.finish(t, want, 0)
	}
	for _, a := range []Action{sent, asks} {
		if got := h.wait(t, a.ID); got.Status != Executed {
			t.Errorf("%+v", got)
		}
	}
	raw, err := os.ReadFile(filepath.Join(folder, "hub.db"))
	if wal, err2 := os.ReadFile(filepath.Join(folder, "hub.db-wal")); err2 == nil {
		raw = append(raw, wal...)
	}
	if err != nil || len(raw) == 0 {
		t.Fatal(err)
	}
	for _, secret := range []string{`"secret"`, personToken, agentToken, runnerToken} {
		if bytes.Contains(raw, []byte(secret)) {
			t.Errorf("%s lies in the store", secret)
		}
	}
}
