package hub

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// params are some that each type accepts.
func paramsOf(kind string) Proposal {
	p := Proposal{Type: kind}
	switch kind {
	case "terminal":
		p.Command = "make"
	case "container_start":
		p.Container = &ContainerSpec{Image: "alpine:3"}
	case "write_file":
		p.Params = json.RawMessage(`{"path":"notes.txt","content":"x"}`)
	case "git_commit":
		p.Params = json.RawMessage(`{"message":"m"}`)
	case "git_branch_create":
		p.Params = json.RawMessage(`{"name":"b"}`)
	case "git_push":
		p.Params = json.RawMessage(`{"branch":"b"}`)
	}
	return p
}

func TestEveryTypeIsProposedDecidedAndEnds(t *testing.T) {
	h := newRuledHub(t)
	r := h.runner(t, append(action.Known(), action.ExtAction)...)
	me := Principal{Kind: kindAgent, ID: "helper", Role: policy.Owner}
	for _, kind := range policy.Types() {
		a := h.proposeAs(t, "helper", paramsOf(kind.Type))
		if a.Status != Pending {
			t.Errorf("%s: %+v", kind.Type, a)
			continue
		}
		if _, err := h.Approve(a.ID, "ana"); err != nil {
			t.Errorf("%s: %v", kind.Type, err)
			continue
		}
		if kindOf(kind.Type) == byProposer {
			if _, err := h.ReportOutcome(me, a.ID, Executed, &Outcome{Result: json.RawMessage(`{"url":"x"}`)}); err != nil {
				t.Errorf("%s: %v", kind.Type, err)
			}
		} else {
			r.answer(t, a.ID)
		}
		if got := h.wait(t, a.ID); got.Status != Executed || *got.DecidedBy != "ana" {
			t.Errorf("%s: %+v", kind.Type, got)
		}
		steps, payloads := h.log(t, a.ID)
		want := []string{eventCreated + " by agent:helper", eventApproved + " by person:ana", eventExecuted + " by system:hub", eventSettled + " by system:hub"}
		if !slices.Equal(steps, want) {
			t.Errorf("%s: %q", kind.Type, steps)
		}
		created := payloads[eventCreated]
		if _, there := created["scopeRoot"]; there != (kind.Type == "terminal") || created["reason"] == "" || created["rule"] == "" || created["status"] != "pending" {
			t.Errorf("%s: %v", kind.Type, created)
		}
	}
	if err := h.store.View(func(tx store.Tx) error {
		n, err := tx.CountDecisions("p")
		if n.ByPeople != len(policy.Types()) || n.ByPolicy != 0 {
			t.Errorf("%+v", n)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// answer takes the next action, which has to be the one called id, and answers that it was done.
func (r *testRunner) answer(t *testing.T, id string) {
	t.Helper()
	msg := <-r.ch.Receive()
	if !strings.Contains(string(msg.Payload), id) {
		t.Fatalf("%s %s", msg.Event, msg.Payload)
	}
	var result any = action.ExecResult{Ref: id}
	switch msg.Event {
	case action.EventAction:
		if _, fail := action.DecodeAction(msg.Payload, action.Known()); fail != nil {
			t.Error(fail)
		}
		result = action.ActionResult{Ref: id, OK: true, Result: map[string]string{"commit": "abc"}}
	case action.EventExec:
	default:
		result = action.ContainerResult{Ref: id, Sucesso: true}
	}
	event := msg.Event + "_result"
	if _, err := r.ch.Call(context.Background(), event, result); err != nil {
		t.Fatal(err)
	}
}

func TestMergeSetsItsTaskDoneOnceForEachPullRequest(t *testing.T) {
	h := newRuledHub(t)
	me := Principal{Kind: kindAgent, ID: "helper", Role: policy.Owner}
	merge := func(params string) Action {
		return h.proposeAs(t, "helper", Proposal{Type: "git_merge", Params: json.RawMessage(params)})
	}
	a := merge(`{"pullRequestId":7,"targetBranch":"feature","taskId":"t1"}`)
	_, err := h.ProposeAs(me, Proposal{ProjectID: "p", Type: "git_merge", Params: json.RawMessage(`{"pullRequestId":"7"}`)})
	failuretest.Produced(t, err, failure.MergeAlreadyProposed)
	if _, err := h.Approve(a.ID, "ana"); err != nil { // it does not count itself
		t.Fatal(err)
	}
	if _, err := h.ReportOutcome(me, a.ID, Failed, &Outcome{Failure: failure.New(failure.BadRequest, "x")}); err != nil {
		t.Fatal(err)
	}
	b := merge(`{"pullRequestId":"7","taskId":"t1"}`) // a failed one does not count
	if b.Rule != policy.CeilingProtectedMerge && b.Rule != policy.Default {
		t.Errorf("%+v", b)
	}
	if _, err := h.Approve(b.ID, "ana"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ReportOutcome(me, b.ID, Executed, &Outcome{Result: json.RawMessage(`{"state":"merged","sha":"abc"}`)}); err != nil {
		t.Fatal(err)
	}
	_, err = h.ProposeAs(me, Proposal{ProjectID: "p", Type: "git_merge", Params: json.RawMessage(`{"pullRequestId":7}`)})
	failuretest.Produced(t, err, failure.AlreadyMerged)
	_, payloads := h.log(t, b.ID)
	if p := payloads[eventTaskStatus]; p["taskId"] != "t1" || p["status"] != "done" {
		t.Errorf("%v", payloads)
	}
	if payloads[eventExecuted]["sha"] != "abc" {
		t.Errorf("%v", payloads[eventExecuted])
	}
	if err := h.store.View(func(tx store.Tx) error {
		status, err := tx.TaskStatus("p", "t1")
		if status != "done" {
			t.Errorf("the task is %q", status)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

func TestPullRequestOfAModuleAgentSettlesItsTask(t *testing.T) {
	h := newRuledHub(t)
	denied, opened := h.proposeAs(t, "dev-api", Proposal{Type: "pr_open"}), h.proposeAs(t, "dev-api", Proposal{Type: "pr_open"})
	if _, err := h.Deny(denied.ID, "ana", ""); err != nil {
		t.Fatal(err)
	}
	steps, payloads := h.log(t, denied.ID)
	if payloads[eventPRSettled]["opened"] != false || payloads[eventDenied]["reason"] != nil {
		t.Errorf("%q %v", steps, payloads)
	}
	if _, err := h.Approve(opened.ID, "ana"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ReportOutcome(Principal{Kind: kindAgent, ID: "dev-api"}, opened.ID, Executed, &Outcome{}); err != nil {
		t.Fatal(err)
	}
	if _, payloads := h.log(t, opened.ID); payloads[eventPRSettled]["opened"] != true {
		t.Errorf("%v", payloads)
	}
}

func TestWaiterThatIsGoneIsInTheLog(t *testing.T) {
	h := newRuledHub(t)
	gone, there := h.proposeAs(t, "helper", Proposal{Type: "terminal", Command: "make"}), h.proposeAs(t, "helper", Proposal{Type: "terminal", Command: "make x"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if a, err := h.Wait(ctx, gone.ID); err == nil || a.Status != Pending {
		t.Errorf("%+v, %v", a, err)
	}
	ctx, cancel = context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if _, err := h.Wait(ctx, there.ID); err == nil {
		t.Error("no error")
	}
	for _, a := range []Action{gone, there} {
		if _, err := h.Deny(a.ID, "ana", "no"); err != nil {
			t.Fatal(err)
		}
	}
	if steps, _ := h.log(t, gone.ID); count(steps, eventWaiterGone) != 1 {
		t.Errorf("%q", steps)
	}
	if steps, _ := h.log(t, there.ID); count(steps, eventWaiterGone) != 0 {
		t.Errorf("who only waits no longer counts as gone: %q", steps)
	}
	if len(h.watches) != 0 {
		t.Errorf("%d watches are left", len(h.watches))
	}
}

func TestPushTravelsWithTheOwnersCredential(t *testing.T) {
	h := newRuledHub(t)
	if status, answer := h.do(t, "PUT", "/git-credentials/git.example", personToken, `{"username":"ana","token":"ghp_secret"}`); status != 204 {
		t.Fatal(status, answer)
	}
	r := h.runner(t, append(action.Known(), action.ExtAction)...)
	push := h.proposeAs(t, "helper", Proposal{Type: "git_push", Params: json.RawMessage(`{"branch":"b"}`)})
	if _, err := h.Approve(push.ID, "ana"); err != nil {
		t.Fatal(err)
	}
	msg := <-r.ch.Receive()
	typed, fail := action.DecodeAction(msg.Payload, action.Known())
	if fail != nil || typed.Env["BRABO_GIT_TOKEN"] != "ghp_secret" || typed.Env["BRABO_GIT_HOST"] != "git.example" || typed.Env["BRABO_GIT_USERNAME"] != "ana" {
		t.Errorf("%+v, %v", typed, fail)
	}
	if _, err := r.ch.Call(context.Background(), action.EventActionResult, action.ActionResult{Ref: push.ID, OK: true}); err != nil {
		t.Fatal(err)
	}
	h.wait(t, push.ID)
	events, err := h.Events(store.EventFilter{Limit: maxEvents})
	raw, err2 := json.Marshal(events)
	if err != nil || err2 != nil || strings.Contains(string(raw), "ghp_secret") {
		t.Error("the credential is in the log", err, err2)
	}
}

func TestStreamTellsEventsAndOutputAndGoesOnWhereItStopped(t *testing.T) {
	h := newRuledHub(t)
	h.permissions(t, `{"allow":["Terminal(make)"]}`)
	r := h.runner(t, action.Known()...)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	stream := func(since string) (*bufio.Scanner, func()) {
		req, err := http.NewRequestWithContext(ctx, "GET", h.url+"/events/stream"+since, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+personToken)
		resp, err := http.DefaultClient.Do(req)
		if err != nil || resp.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatal(resp, err)
		}
		return bufio.NewScanner(resp.Body), func() { resp.Body.Close() }
	}
	until := func(s *bufio.Scanner, what string) string {
		for s.Scan() {
			if strings.Contains(s.Text(), what) {
				return s.Text()
			}
		}
		t.Fatalf("the stream ended before %q: %v", what, s.Err())
		return ""
	}
	s, closeFirst := stream("")
	until(s, "connected")
	a := h.proposeAs(t, "helper", Proposal{Type: "terminal", Command: "make"})
	until(s, eventCreated)
	if err := r.ch.Push(ctx, action.EventExecOutput, action.ExecOutput{Ref: r.exec(t).Ref, Data: []byte("compiling")}); err != nil {
		t.Fatal(err)
	}
	until(s, "event: output")
	var o Output
	if err := json.Unmarshal([]byte(strings.TrimPrefix(until(s, "data: "), "data: ")), &o); err != nil || o.ActionID != a.ID || string(o.Data) != "compiling" {
		t.Errorf("%+v, %v", o, err)
	}
	if _, answer := h.do(t, "GET", "/actions/"+a.ID+"/output?offset=4", personToken, ""); answer["data"] != "aWxpbmc=" || answer["done"] != false {
		t.Errorf("%v", answer)
	}
	closeFirst()
	r.finish(t, a.ID, 0)
	h.wait(t, a.ID)
	s, closeSecond := stream("?since=0")
	defer closeSecond()
	until(s, eventCreated)
	until(s, eventExecuted)
	if _, answer := h.do(t, "GET", "/actions/"+a.ID+"/output", personToken, ""); answer["data"] != "b3V0" || answer["done"] != true {
		t.Errorf("%v", answer)
	}
}

func TestOutputKeepsItsOffsetsThroughGapsAndBounds(t *testing.T) {
	var o tail
	o.add(0, []byte("abc"))
	o.add(1, []byte("bcde"))
	o.add(2, []byte("c"))
	o.add(-1, []byte("x"))
	if begin, data := o.from(1); begin != 1 || string(data) != "bcde" {
		t.Errorf("%d %q", begin, data)
	}
	o.add(10, []byte("xyz"))
	if begin, data := o.from(0); begin != 10 || string(data) != "xyz" || o.end() != 13 {
		t.Errorf("%d %q", begin, data)
	}
	o.add(13, make([]byte, maxTail+5))
	if begin, data := o.from(0); begin != 18 || len(data) != maxTail {
		t.Errorf("%d, %d bytes", begin, len(data))
	}
}
