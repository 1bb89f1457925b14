package runner

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/machinepolicy"
	"brabo.dev/runner/runner/policy"
)

// TestEachCeilingHasEachAnswer goes through the ceilings, what policy.json may say about each, and who may have decided.
func TestEachCeilingHasEachAnswer(t *testing.T) {
	const root = "/work/shop"
	human, rules := &action.Decision{Kind: "human"}, &action.Decision{Kind: "policy"}
	commands := map[machinepolicy.Ceiling]string{
		machinepolicy.ExternalEffect: "git push", machinepolicy.Privileged: "sudo true",
		machinepolicy.PolicyFile: "echo x >.git/hooks/pre-commit", machinepolicy.Unresolved: "$X",
	}
	for ceiling, command := range commands {
		for _, c := range []struct {
			says    machinepolicy.Response
			decided *action.Decision
			want    string
		}{
			{machinepolicy.Trust, human, "runs"}, {machinepolicy.Trust, rules, "runs"}, {machinepolicy.Trust, nil, "runs"},
			{machinepolicy.Usual, human, "runs"}, {machinepolicy.Usual, rules, "held"}, {machinepolicy.Usual, nil, "runs"},
			{machinepolicy.Confirm, human, "runs"}, {machinepolicy.Confirm, rules, "held"}, {machinepolicy.Confirm, nil, "held"},
			{machinepolicy.Refuse, human, "refused"}, {machinepolicy.Refuse, rules, "refused"}, {machinepolicy.Refuse, nil, "refused"},
		} {
			for other := range commands { // what is said about one ceiling holds for no other
				said := machinepolicy.Policy{}
				if c.says != machinepolicy.Usual {
					var err error
					if said, err = machinepolicy.Parse("policy.json", fmt.Appendf(nil, `{"default":{"ceilings":{%q:%q}}}`, other, c.says)); err != nil {
						t.Fatal(err)
					}
				}
				want := c.want
				if other != ceiling {
					if want = "runs"; c.decided == rules {
						want = "held"
					}
				}
				a := proposed{Action: policy.Action{Type: "terminal", Command: command}, ref: "a", decision: c.decided}
				ask, fail := atCeilings(said.For("p"), a, policy.NewRecheck(a.Action, policy.Permissions{}, policy.Context{ScopeRoot: root}).Ceilings())
				got := "runs"
				if ask != "" {
					got = "held"
				}
				if fail != nil {
					failuretest.Produced(t, fail, failure.MachinePolicyRefused)
					got = "refused"
				}
				if got != want {
					t.Errorf("%s, where %q says %q, decided by %+v: %s, want %s", ceiling, other, c.says, c.decided, got, want)
				}
			}
		}
	}
}

// TestAllowedOnceIsForTheSameActionInTime: the person's word about an action that has its answer already passes the same
// text in the same project and folder, once, and not after its time.
func TestAllowedOnceIsForTheSameActionInTime(t *testing.T) {
	content := func(event, payload string) [32]byte {
		t.Helper()
		sum, err := contentOf(event, json.RawMessage(payload))
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	const same = `{"ref":"2","cwd":"/work/shop","command":"sudo true","deadlineMs":5000}`
	allowed := content("exec", `{"ref":"1","command":"sudo true","cwd":"/work/shop"}`)
	one, two := &session{}, &session{}
	c := &confirmations{limit: 10, all: map[string]*held{}}
	allow := func(until time.Time) {
		t.Helper()
		if !c.add(&held{s: one, content: allowed, answer: control.HeldAllowed, until: until}) {
			t.Fatal("it is not kept")
		}
	}
	allow(time.Now().Add(time.Hour))
	for name, other := range map[string]struct {
		s       *session
		content [32]byte
	}{
		"another project":     {two, content("exec", same)},
		"another text":        {one, content("exec", `{"ref":"2","command":"sudo true ","cwd":"/work/shop"}`)},
		"another folder":      {one, content("exec", `{"ref":"2","command":"sudo true","cwd":"/work/shop/sub"}`)},
		"no folder":           {one, content("exec", `{"ref":"2","command":"sudo true"}`)},
		"another environment": {one, content("exec", `{"ref":"2","command":"sudo true","cwd":"/work/shop","env":{"A":"b"}}`)},
		"another event":       {one, content("action", same)},
	} {
		if answer, known := c.pass(other.s, other.content); known {
			t.Errorf("%s is known, and %s", name, answer)
		}
	}
	if answer, known := c.pass(one, content("exec", same)); !known || answer != control.HeldAllowed {
		t.Errorf("the same one does not pass: %q", answer)
	}
	if answer, known := c.pass(one, content("exec", same)); known {
		t.Errorf("it passes twice: %q", answer)
	}
	allow(time.Now().Add(-time.Second))
	if answer, known := c.pass(one, content("exec", same)); known {
		t.Errorf("it passes after its time: %q", answer)
	}
}
