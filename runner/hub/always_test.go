package hub

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// log lists the events of an action as "type by kind:id", and its payloads by type.
func (h *testHub) log(t *testing.T, id string) (steps []string, payloads map[string]map[string]any) {
	t.Helper()
	events, err := h.Events(store.EventFilter{Limit: maxEvents})
	if err != nil {
		t.Fatal(err)
	}
	payloads = map[string]map[string]any{}
	for _, e := range events {
		var p map[string]any
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			t.Fatal(err)
		}
		if p["actionId"] == id {
			steps = append(steps, e.Type+" by "+e.Actor.Kind+":"+e.Actor.ID)
			payloads[e.Type] = p
		}
	}
	return steps, payloads
}

// file is the project's permissions.json as it is.
func (h *ruledHub) file(t *testing.T) policy.File {
	t.Helper()
	f, err := policy.Load(filepath.Join(h.root, policy.FileName))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (h *ruledHub) proposeAs(t *testing.T, agent string, p Proposal) Action {
	t.Helper()
	p.ProjectID = "p"
	a, err := h.ProposeAs(Principal{Kind: kindAgent, ID: agent, Role: policy.Owner}, p)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAlwaysAllowApprovesAndRemembersAsOneStep(t *testing.T) {
	h := newRuledHub(t)
	a := h.proposeAs(t, "helper", Proposal{Type: "terminal", Command: "make && npm test -- --watch"})
	got, err := h.AlwaysAllow(a.ID, "ana")
	want := []string{"Terminal(make)", "Terminal(npm test)"}
	if err != nil || got.Outcome != policy.OutcomeApproved || !got.Written || !slices.Equal(got.Patterns, want) {
		t.Fatalf("%+v, %v", got, err)
	}
	if allow := h.file(t).Allow; !slices.Equal(allow, want) {
		t.Errorf("%q", allow)
	}
	steps, payloads := h.log(t, a.ID)
	begin := []string{eventCreated + " by agent:helper", eventApproved + " by person:ana", eventGranted + " by person:ana"}
	if len(steps) < 3 || !slices.Equal(steps[:3], begin) {
		t.Errorf("%q", steps)
	}
	if payloads[eventGranted]["pattern"] != strings.Join(want, ", ") {
		t.Errorf("%v", payloads[eventGranted])
	}
	again, err := h.AlwaysAllow(a.ID, "ana")
	if err != nil || again.Outcome != policy.OutcomeAlreadyApproved || again.Written {
		t.Errorf("the second click: %+v, %v", again, err)
	}
	h.permissions(t, "")
	again, err = h.AlwaysAllow(a.ID, "ana")
	if err != nil || again.Outcome != policy.OutcomeAlreadyApproved || !again.Written {
		t.Errorf("a click that finds the entry missing: %+v, %v", again, err)
	}
	if steps, _ := h.log(t, a.ID); count(steps, eventApproved) != 1 || count(steps, eventGranted) != 2 {
		t.Errorf("%q", steps)
	}
}

func count(steps []string, kind string) (n int) {
	for _, s := range steps {
		if strings.HasPrefix(s, kind+" ") {
			n++
		}
	}
	return n
}

func TestConcurrentClicksApproveOnce(t *testing.T) {
	h := newRuledHub(t)
	a := h.proposeAs(t, "helper", Proposal{Type: "terminal", Command: "make"})
	var clicks sync.WaitGroup
	outcomes := make([]policy.Outcome, 8)
	for i := range outcomes {
		clicks.Go(func() {
			got, err := h.AlwaysAllow(a.ID, "ana")
			if err != nil {
				t.Error(err)
			}
			outcomes[i] = got.Outcome
		})
	}
	clicks.Wait()
	slices.Sort(outcomes)
	if outcomes[0] != policy.OutcomeApproved || outcomes[1] != policy.OutcomeAlreadyApproved {
		t.Errorf("%q", outcomes)
	}
	if steps, _ := h.log(t, a.ID); count(steps, eventApproved) != 1 || count(steps, eventGranted) != 1 {
		t.Errorf("%q", steps)
	}
}

func TestRuleThatCantBeWrittenUndoesTheApproval(t *testing.T) {
	h := newRuledHub(t)
	a := h.proposeAs(t, "helper", Proposal{Type: "terminal", Command: "make"})
	h.permissions(t, `{"allow":`)
	_, err := h.AlwaysAllow(a.ID, "ana")
	failuretest.Produced(t, err, failure.PermissionsFileInvalid)
	h.permissions(t, "")
	if os.Getuid() != 0 {
		if err := os.Chmod(h.root, 0o500); err != nil {
			t.Fatal(err)
		}
		_, err = h.AlwaysAllow(a.ID, "ana")
		failuretest.Produced(t, err, failure.PermissionsFileNotWritten)
		if err := os.Chmod(h.root, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := h.Get(a.ID); err != nil || got.Status != Pending {
		t.Errorf("%+v, %v", got, err)
	}
	if steps, _ := h.log(t, a.ID); len(steps) != 1 {
		t.Errorf("%q", steps)
	}
}

func TestOfModuleAgentsAutonomyIsRemembered(t *testing.T) {
	h := newRuledHub(t)
	first := h.proposeAs(t, "dev-api", Proposal{Type: "open_adr_pr"})
	got, err := h.AlwaysAllow(first.ID, "ana")
	if err != nil || !got.Written || got.Autonomy == nil || *got.Autonomy != (Autonomy{"dev-api", "open_adr_pr", policy.AutoApprove}) || got.Patterns != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, payloads := h.log(t, first.ID); payloads[eventGranted]["agentId"] != "dev-api" {
		t.Errorf("%v", payloads)
	}
	if a := h.proposeAs(t, "dev-api", Proposal{Type: "open_adr_pr"}); a.Rule != policy.AutonomyAutoApprove {
		t.Errorf("%+v", a)
	}
	for _, other := range []string{"dev-web", "dev-lead"} {
		if a := h.proposeAs(t, other, Proposal{Type: "open_adr_pr"}); a.Status != Pending {
			t.Errorf("%s: %+v", other, a)
		}
	}
	if allow := h.file(t).Allow; len(allow) != 0 {
		t.Errorf("%q", allow)
	}
	lead := h.proposeAs(t, "dev-lead", Proposal{Type: "open_adr_pr"})
	if got, err := h.AlwaysAllow(lead.ID, "ana"); err != nil || !slices.Equal(got.Patterns, []string{"OpenAdrPr()"}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAlwaysAllowKeepsToItsLimits(t *testing.T) {
	h := newRuledHub(t)
	owner := Principal{Kind: kindPerson, ID: "ana", Role: policy.Owner}
	if _, err := h.AddMember(owner.actor(), "bia", policy.Developer); err != nil {
		t.Fatal(err)
	}
	ls := h.proposeAs(t, "helper", Proposal{Type: "terminal", Command: "ls"})
	_, err := h.AlwaysAllow(ls.ID, "bia")
	failuretest.Produced(t, err, failure.Forbidden)
	h.permissions(t, `{"ask":["Terminal(ls)"]}`)
	got, err := h.AlwaysAllow(ls.ID, "ana")
	if err != nil || got.Outcome != policy.OutcomeApproved || got.Written || !slices.Equal(got.AskEntries, []string{"Terminal(ls)"}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, command := range []string{"git push", "sudo ls"} {
		a := h.proposeAs(t, "helper", Proposal{Type: "terminal", Command: command})
		if _, err := h.Approve(a.ID, "ana"); err != nil {
			t.Fatal(err)
		}
		_, err := h.AlwaysAllow(a.ID, "ana") // refused before its state is looked at
		failuretest.Produced(t, err, failure.AlwaysAllowRefused)
	}
	denied := h.proposeAs(t, "helper", Proposal{Type: "terminal", Command: "rm -rf /"})
	if denied.Status != Denied || denied.RejectionReason == "" {
		t.Fatalf("%+v", denied)
	}
	_, err = h.AlwaysAllow(denied.ID, "ana")
	failuretest.Produced(t, err, failure.ActionDenied)
}
