package hub

import (
	"encoding/json"
	"testing"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// refused compares a refusal with the contract's own words for it.
func refused(t *testing.T, what string, status int, answer map[string]any, want int, name failure.Name, words map[string]any) {
	t.Helper()
	if status != want {
		t.Errorf("%s: %d, want %d: %v", what, status, want, answer)
	}
	failuretest.Produced(t, named(answer), name)
	for field, word := range words {
		if answer[field] != word {
			t.Errorf("%s: %s is %v, want %v", what, field, answer[field], word)
		}
	}
}

// unchanged checks that a request that was refused changed neither the action nor the rules nor the log.
func (h *ruledHub) unchanged(t *testing.T, what, id string, before Action, events int) {
	t.Helper()
	if after, err := h.Get(id); err != nil || after.Status != before.Status || (after.DecidedBy == nil) != (before.DecidedBy == nil) {
		t.Errorf("%s: %+v, %v", what, after, err)
	}
	if f := h.file(t); len(f.Allow) != 0 {
		t.Errorf("%s: wrote %q", what, f.Allow)
	}
	if steps, _ := h.log(t, id); len(steps) != events {
		t.Errorf("%s: %q", what, steps)
	}
}

// TestAlwaysAllowIsRefusedByTheListWhateverTheState goes through the list of policy.md section 11.
func TestAlwaysAllowIsRefusedByTheListWhateverTheState(t *testing.T) {
	h := newRuledHub(t)
	var list []Proposal
	for _, kind := range []string{"git_push", "pr_open", "git_merge", "container_remove", "instruction_patch", "parallelize", "raise_max_parallel"} {
		list = append(list, paramsOf(kind))
	}
	for _, command := range []string{"git push", "ls && gh pr merge 7", "bash -c 'npm publish'", "sudo ls", "ls; doas id"} {
		list = append(list, Proposal{Type: "terminal", Command: command})
	}
	for _, p := range list {
		what := p.Type + " " + p.Command
		words := map[string]any{"reason": "teto_do_sempre_permitir", "actionType": p.Type, "code": nil}
		always := func(state string) {
			t.Helper()
			a := h.proposeAs(t, "helper", p)
			switch state {
			case "approved":
				if _, err := h.Approve(a.ID, "ana"); err != nil {
					t.Fatal(err)
				}
			case "denied":
				if _, err := h.Deny(a.ID, "ana", "no"); err != nil {
					t.Fatal(err)
				}
			}
			before, err := h.Get(a.ID)
			if err != nil {
				t.Fatal(err)
			}
			steps, _ := h.log(t, a.ID)
			status, answer := h.do(t, "POST", "/actions/"+a.ID+"/always", personToken, "")
			refused(t, what+", "+state, status, answer, 400, failure.AlwaysAllowRefused, words)
			h.unchanged(t, what+", "+state, a.ID, before, len(steps))
		}
		always("pending")
		always("denied")
		always("approved")
	}
}

// TestDecisionsAreAnsweredByTheStateThatIsFound goes through the states, and the answers of policy.md section 11.
func TestDecisionsAreAnsweredByTheStateThatIsFound(t *testing.T) {
	h := newRuledHub(t)
	h.permissions(t, `{"allow":["OpenAdrPr()","Terminal(true)"]}`)
	me := Principal{Kind: kindAgent, ID: "helper", Role: policy.Owner}
	approved := func(p Proposal) string {
		a := h.proposeAs(t, "helper", p)
		if _, err := h.Approve(a.ID, "ana"); err != nil {
			t.Fatal(err)
		}
		return a.ID
	}
	ended := func(ok Status) string {
		id := approved(Proposal{Type: "open_infra_pr"})
		if _, err := h.ReportOutcome(me, id, ok, &Outcome{}); err != nil {
			t.Fatal(err)
		}
		return id
	}
	denied := h.proposeAs(t, "helper", Proposal{Type: "open_infra_pr"}).ID
	if _, err := h.Deny(denied, "ana", "no"); err != nil {
		t.Fatal(err)
	}
	for state, id := range map[string]string{
		"approved": approved(Proposal{Type: "open_infra_pr"}), "auto_approved": h.proposeAs(t, "helper", Proposal{Type: "open_adr_pr"}).ID,
		"executed": ended(Executed), "failed": ended(Failed), "denied": denied,
		"denied by rule": h.proposeAs(t, "helper", Proposal{Type: "terminal", Command: "rm -rf /"}).ID,
	} {
		before, err := h.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, decision := range []string{"approve", "deny"} {
			status, answer := h.do(t, "POST", "/actions/"+id+"/"+decision, personToken, "{}")
			refused(t, decision+" "+state, status, answer, 409, failure.InvalidTransition, nil)
		}
		status, answer := h.do(t, "POST", "/actions/"+id+"/always", personToken, "")
		if before.Status == Denied {
			refused(t, "always "+state, status, answer, 409, failure.ActionDenied, map[string]any{"reason": "acao_ja_recusada", "status": "denied"})
		} else if status != 200 || answer["desfecho"] != "ja_aprovada" {
			t.Errorf("always %s: %d %v", state, status, answer)
		}
		if after, err := h.Get(id); err != nil || after.Status != before.Status {
			t.Errorf("%s: %+v, %v", state, after, err)
		}
	}
	pending := h.proposeAs(t, "helper", Proposal{Type: "terminal", Command: "make"}).ID
	if status, answer := h.do(t, "POST", "/actions/"+pending+"/always", personToken, ""); status != 200 || answer["desfecho"] != "aprovada" || answer["padraoGravado"] != true {
		t.Errorf("%d %v", status, answer)
	}
	if status, answer := h.do(t, "POST", "/actions/"+pending+"/always", personToken, ""); status != 200 || answer["desfecho"] != "ja_aprovada" || answer["padraoGravado"] != false {
		t.Errorf("%d %v", status, answer)
	}
	for _, decision := range []string{"approve", "deny", "always"} {
		status, answer := h.do(t, "POST", "/actions/nobody/"+decision, personToken, "{}")
		refused(t, decision+" of none", status, answer, 404, failure.ActionNotFound, nil)
	}
}

// TestMergesAreRefusedInOrder goes through policy.md section 13, when a merge is proposed and again when it is approved.
func TestMergesAreRefusedInOrder(t *testing.T) {
	for _, c := range []struct {
		name   string
		merges []store.Action // of the pull request 7, that are there besides
		code   string
		want   failure.Name
	}{
		{"none", nil, "", ""},
		{"denied and failed ones", []store.Action{{Status: "denied"}, {Status: "failed"}}, "", ""},
		{"one that was executed and merged nothing", []store.Action{{Status: "executed"}}, "", ""},
		{"a pending one", []store.Action{{Status: "pending"}}, "merge_ja_proposto", failure.MergeAlreadyProposed},
		{"an approved one", []store.Action{{Status: "approved"}}, "merge_ja_proposto", failure.MergeAlreadyProposed},
		{"an automatically approved one", []store.Action{{Status: "auto_approved"}}, "merge_ja_proposto", failure.MergeAlreadyProposed},
		{"a merged one", []store.Action{{Status: "executed", Merged: true}}, "pr_ja_mergeado", failure.AlreadyMerged},
		{"a pending one, and a merged one", []store.Action{{Status: "pending"}, {Status: "executed", Merged: true}}, "pr_ja_mergeado", failure.AlreadyMerged},
		{"one of another project", []store.Action{{Status: "pending", Project: "q"}}, "", ""},
		{"one of another pull request", []store.Action{{Status: "pending", PullRequest: "8"}}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newRuledHub(t)
			waiting := h.proposeAs(t, "helper", Proposal{Type: "git_merge", Params: json.RawMessage(`{"pullRequestId":7,"targetBranch":"x"}`)})
			err := h.store.Update(func(tx store.Tx) error {
				for i, m := range c.merges {
					m.ID, m.Type, m.Proposal, m.Proposed = string(rune('a'+i)), "git_merge", []byte("{}"), time.Now()
					if m.Project == "" {
						m.Project = "p"
					}
					if m.PullRequest == "" {
						m.PullRequest = "7"
					}
					if _, err := tx.AddAction(m); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			words := map[string]any{"code": c.code}
			approve := func(state string) {
				t.Helper()
				status, answer := h.do(t, "POST", "/actions/"+waiting.ID+"/approve", personToken, "")
				if c.want == "" {
					if status != 200 {
						t.Errorf("%s: %d %v", state, status, answer)
					}
					return
				}
				refused(t, state, status, answer, 409, c.want, words)
				h.unchanged(t, state, waiting.ID, waiting, 1)
			}
			all := len(h.List(""))
			propose := func(want failure.Name, code string) {
				t.Helper()
				status, answer := h.do(t, "POST", "/actions", agentToken, `{"projectId":"p","type":"git_merge","params":{"pullRequestId":"7","targetBranch":"x"}}`)
				if want == "" {
					if status != 201 {
						t.Errorf("proposed: %d %v", status, answer)
					}
					return
				}
				refused(t, "proposed", status, answer, 409, want, map[string]any{"code": code})
				if n := len(h.List("")); n != all {
					t.Errorf("%d actions instead of %d", n, all)
				}
			}
			if c.want == "" { // the waiting one itself counts for another
				propose(failure.MergeAlreadyProposed, "merge_ja_proposto")
				approve("approved")
				return
			}
			propose(c.want, c.code)
			approve("approved")
			if _, err := h.Deny(waiting.ID, "ana", "no"); err != nil {
				t.Fatal(err)
			}
			propose(c.want, c.code)
		})
	}
}

// TestContainerActionsNeedAServiceInTheModesThatHaveNone goes through the modes and the three types.
func TestContainerActionsNeedAServiceInTheModesThatHaveNone(t *testing.T) {
	for mode, want := range map[Mode]failure.Name{ModeContainer: failure.NoContainerService, ModeMounted: failure.NoContainerService, ModeRunner: ""} {
		p := Project{ID: "p", Name: "Shop", Mode: mode, DirName: "shop-1"}
		if mode != ModeContainer {
			p.Root = t.TempDir()
		}
		h := serveHub(t, Config{Projects: []Project{p}, WorkspacesRoot: t.TempDir()})
		for _, id := range []string{"token", "machine"} {
			if err := h.RevokeDaemon(Principal{Kind: kindPerson, ID: "ana", Role: policy.Owner}, id); err != nil {
				t.Fatal(err)
			}
		}
		for _, kind := range []string{action.EventContainerStart, action.EventContainerStop, action.EventContainerRemove} {
			p := paramsOf(kind)
			p.ProjectID = "p"
			body, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			status, answer := h.do(t, "POST", "/actions", agentToken, string(body))
			if want == "" {
				if status != 201 || answer["status"] != "pending" {
					t.Errorf("%s %s: %d %v", mode, kind, status, answer)
				}
				continue
			}
			refused(t, string(mode)+" "+kind, status, answer, 409, want, map[string]any{"code": "sem_broker_na_instalacao"})
			if all := h.List(""); len(all) != 0 {
				t.Errorf("%+v", all)
			}
		}
	}
}
