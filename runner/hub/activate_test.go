package hub

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// TestActivationSeedsTheListsAndCommitsOfModules goes through policy.md section 10.
func TestActivationSeedsTheListsAndCommitsOfModules(t *testing.T) {
	h := newRuledHub(t)
	ana := Actor{kindPerson, "ana"}
	if err := os.WriteFile(filepath.Join(h.root, ModulesFile), []byte(`[{"name":"api"},{"name":"web"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	h.permissions(t, `{"allow":["Terminal(make)","Terminal(ls)"],"deny":["Terminal(curl)"],"notes":"mine"}`)
	a, err := h.Activate(ana, "p")
	if err != nil {
		t.Fatal(err)
	}
	source, ours := policy.Seeded()
	if len(source) != 40 || len(ours) != 77 || len(a.Patterns) != 116 { // one was there
		t.Errorf("%d and %d entries, of which %d were written", len(source), len(ours), len(a.Patterns))
	}
	seeded := slices.DeleteFunc(append(slices.Clone(source), ours...), func(entry string) bool { return entry == "Terminal(ls)" })
	if f := h.file(t); !slices.Equal(f.Allow, append([]string{"Terminal(make)", "Terminal(ls)"}, seeded...)) || !slices.Equal(f.Deny, []string{"Terminal(curl)"}) {
		t.Errorf("%q", f.Allow)
	}
	rows, err := h.Autonomy("p")
	want := []Autonomy{{"dev-api", "git_commit", policy.AutoApprove}, {"dev-web", "git_commit", policy.AutoApprove}}
	if err != nil || !slices.Equal(rows, want) {
		t.Errorf("%v, %v", rows, err)
	}
	for _, c := range []struct {
		agent string
		p     Proposal
		rule  policy.Rule
	}{
		{"dev-api", paramsOf("git_commit"), policy.AutonomyAutoApprove},
		{"helper", paramsOf("git_commit"), policy.Default},
		{"dev-api", paramsOf("write_file"), policy.Default},
		{"dev-api", Proposal{Type: "terminal", Command: "git status"}, policy.FileAllow},
		{"dev-api", Proposal{Type: "terminal", Command: "touch x"}, policy.Default},
		{"dev-api", paramsOf("container_start"), policy.Default},
	} {
		if got := h.proposeAs(t, c.agent, c.p); got.Rule != c.rule {
			t.Errorf("%s by %s: %s, want %s", c.p.Type, c.agent, got.Rule, c.rule)
		}
	}
	again, err := h.Activate(ana, "p")
	if err != nil || len(again.Patterns) != 0 {
		t.Errorf("%+v, %v", again, err)
	}
	events, err := h.Events(store.EventFilter{Type: eventProject, Limit: 10})
	var told struct{ Change string }
	if err != nil || len(events) != 2 || events[0].Actor != ana || json.Unmarshal(events[0].Payload, &told) != nil || told.Change != "activated" {
		t.Errorf("%+v, %v", events, err)
	}
	h.permissions(t, `{"allow":`)
	_, err = h.Activate(ana, "p")
	failuretest.Produced(t, err, failure.PermissionsFileInvalid)
}

// TestProjectIsChangedWhileItIsActivated is one for the race detector.
func TestProjectIsChangedWhileItIsActivated(t *testing.T) {
	h := newRuledHub(t)
	ana := Actor{kindPerson, "ana"}
	var changes sync.WaitGroup
	defer changes.Wait()
	changes.Go(func() {
		for i := range 10 {
			name := fmt.Sprint("name ", i)
			if _, err := h.ChangeProject(ana, "p", ProjectChange{Name: &name}); err != nil {
				t.Error(err)
			}
		}
	})
	for range 10 {
		if _, err := h.Activate(ana, "p"); err != nil {
			t.Error(err)
		}
	}
}

// TestHandoffLetsTheInfrastructureAgentStartContainersAndNoMore goes through the rest of that section.
func TestHandoffLetsTheInfrastructureAgentStartContainersAndNoMore(t *testing.T) {
	h := newRuledHub(t)
	if err := h.AcceptHandoff(Actor{kindPerson, "ana"}, "p", "infra"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		agent, kind string
		rule        policy.Rule
	}{
		{"infra", "container_start", policy.AutonomyAutoApprove}, {"infra", "container_stop", policy.Default}, {"infra", "container_remove", policy.Default},
		{"helper", "container_start", policy.Default}, {"infra", "terminal", policy.Default},
	} {
		if a := h.proposeAs(t, c.agent, paramsOf(c.kind)); a.Rule != c.rule {
			t.Errorf("%s by %s: %s, want %s", c.kind, c.agent, a.Rule, c.rule)
		}
	}
	failuretest.Produced(t, h.AcceptHandoff(Actor{kindPerson, "ana"}, "nowhere", "infra"), failure.ProjectNotFound)
}

// TestOutcomeCanBeReportedAfterARestartUntilItIsDue has one action whose time is over while no hub runs, and one that has
// time left.
func TestOutcomeCanBeReportedAfterARestartUntilItIsDue(t *testing.T) {
	folder := t.TempDir()
	opened, err := store.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	err = opened.Update(func(tx store.Tx) error {
		for id, due := range map[string]time.Time{"late": now.Add(-time.Second), "early": now.Add(time.Hour)} {
			by := "ana"
			row := store.Action{ID: id, Project: "p", Type: "pr_open", ProposerKind: kindAgent, Proposer: localAgent, Status: "approved", DecidedBy: &by,
				Proposal: []byte(`{"projectId":"p","type":"pr_open"}`), Proposed: now.Add(-time.Hour), Decided: now.Add(-time.Hour), Due: due}
			if _, err := tx.AddAction(row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close() })
	h := serveHub(t, Config{Store: opened, Decider: byText{}, Projects: []Project{{ID: "p", Mode: ModeMounted, Root: "/srv/p"}}})
	failuretest.Produced(t, h.wait(t, "late").Outcome.Failure, failure.NoOutcomeReported)
	status, answer := h.do(t, "POST", "/actions/late/outcome", agentToken, `{"ok":true}`)
	refused(t, "too late", status, answer, 409, failure.InvalidTransition, nil)
	if status, answer := h.do(t, "POST", "/actions/early/outcome", agentToken, `{"ok":true,"result":{"url":"x"}}`); status != 200 || answer["status"] != "executed" {
		t.Errorf("%d %v", status, answer)
	}
	_, payloads := h.log(t, "early")
	if settled, _ := payloads[eventSettled]["executionResult"].(map[string]any); payloads[eventExecuted]["url"] != "x" || settled["url"] != "x" {
		t.Errorf("%v", payloads)
	}
}
