package hub

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/policy"
)

// testRunner is a runner's side of the channel, played by the test.
type testRunner struct {
	conn  *channel.Conn
	ch    *channel.Channel
	reply json.RawMessage
}

// tryJoin connects with a fresh ticket and joins.
func (h *testHub) tryJoin(t testing.TB, topic string, params any) (*testRunner, error) {
	t.Helper()
	ticket, _ := h.tickets.issue("p", "token", time.Now())
	conn, err := (&channel.Dialer{}).Dial(context.Background(), h.url+"/runner/websocket?ticket="+ticket+"&vsn=2.0.0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	ch, reply, err := conn.Join(context.Background(), topic, params)
	return &testRunner{conn, ch, reply}, err
}

func (h *testHub) runner(t testing.TB, extensions ...action.Extension) *testRunner {
	t.Helper()
	r, err := h.tryJoin(t, "terminal:p", action.NewJoin([]string{"exec"}, extensions))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// exec takes the next exec that the hub sends.
func (r *testRunner) exec(t *testing.T) message {
	t.Helper()
	msg, open := <-r.ch.Receive()
	if !open || msg.Event != action.EventExec {
		t.Fatalf("not an exec: %+v, %v", msg, r.ch.Err())
	}
	var m message
	if err := json.Unmarshal(msg.Payload, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func (r *testRunner) finish(t *testing.T, ref string, code int) {
	t.Helper()
	if _, err := r.ch.Call(context.Background(), action.EventExecResult, action.ExecResult{Ref: ref, ExitCode: code, Output: "out"}); err != nil {
		t.Fatal(err)
	}
}

func (h *testHub) propose(t *testing.T, command string) Action {
	t.Helper()
	a, err := h.Propose(Proposal{ProjectID: "p", Type: "terminal", Command: command})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (h *testHub) wait(t *testing.T, id string) Action {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	a, err := h.Wait(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAllowedActionRunsAtOnceAndNobodyDecided(t *testing.T) {
	h := newTestHub(t)
	r := h.runner(t, action.Known()...)
	a := h.propose(t, "allowed")
	m := r.exec(t)
	if m.Ref != a.ID || m.Command != "allowed" || m.Cwd != nil || m.DeadlineMs != 60000 || m.Decision.Kind != "policy" || m.Decision.By != "" {
		t.Errorf("%+v %+v", m, m.Decision)
	}
	r.finish(t, m.Ref, 0)
	a = h.wait(t, a.ID)
	if a.Status != Executed || a.DecidedBy != nil || *a.Outcome.ExitCode != 0 || a.Outcome.Output != "out" || a.EndedAt == nil {
		t.Errorf("%+v", a)
	}
}

func TestPendingActionRunsAfterAYesAndSaysWhoSaidIt(t *testing.T) {
	h := newTestHub(t)
	r := h.runner(t, action.Known()...)
	a := h.propose(t, "asks")
	if a.Status != Pending || a.Policy != policy.RequireApproval {
		t.Fatalf("%+v", a)
	}
	if list := h.List(Pending); len(list) != 1 || list[0].ID != a.ID {
		t.Errorf("%+v", list)
	}
	if status, answer := h.do(t, "POST", "/actions/"+a.ID+"/approve", personToken, ""); status != 200 || answer["desfecho"] != "aprovada" {
		t.Fatal(status, answer)
	}
	m := r.exec(t)
	if m.Decision.Kind != "human" || m.Decision.By != "ana" || m.Decision.At.IsZero() {
		t.Errorf("%+v", m.Decision)
	}
	r.finish(t, m.Ref, 3)
	if a = h.wait(t, a.ID); a.Status != Failed || *a.Outcome.ExitCode != 3 || *a.DecidedBy != "ana" {
		t.Errorf("%+v", a)
	}
	_, err := h.Approve(a.ID, "ana")
	failuretest.Produced(t, err, failure.InvalidTransition)
}

func TestRefusedActionsNeverRun(t *testing.T) {
	h := newTestHub(t)
	r := h.runner(t, action.Known()...)
	denied := h.propose(t, "denied")
	if denied.Status != Denied || denied.RejectionReason == "" || denied.DecidedBy != nil {
		t.Errorf("%+v", denied)
	}
	asks := h.propose(t, "asks")
	if status, answer := h.do(t, "POST", "/actions/"+asks.ID+"/deny", personToken, `{"reason":"not today"}`); status != 200 || answer["rejectionReason"] != "not today" {
		t.Fatal(status, answer)
	}
	if a := h.wait(t, asks.ID); a.Status != Denied || *a.DecidedBy != "ana" {
		t.Errorf("%+v", a)
	}
	// The next thing that the runner hears of is the one that may run.
	allowed := h.propose(t, "allowed")
	if m := r.exec(t); m.Ref != allowed.ID {
		t.Errorf("the runner got %+v", m)
	}
	r.finish(t, allowed.ID, 0)
}

func TestBadProposalsCreateNothing(t *testing.T) {
	h := newTestHub(t)
	for _, c := range []struct {
		body   string
		status int
		want   failure.Name
	}{
		{`{`, 400, failure.BadRequest},
		{`[]`, 400, failure.BadRequest},
		{`{"projectId":"p","type":"terminal","command":"x","surprise":1}`, 400, failure.BadRequest},
		{`{"projectId":"p","type":"terminal","command":"x"} {}`, 400, failure.BadRequest},
		{`{"projectId":"p","type":"terminal","command":"` + strings.Repeat("x", 70<<10) + `"}`, 413, failure.BadRequest},
		{`{"projectId":"nowhere","type":"terminal","command":"x"}`, 404, failure.ProjectNotFound},
		{`{"projectId":"p","type":"teleport"}`, 400, failure.UnknownActionType},
		{`{"projectId":"p","type":"terminal","command":"x","deadlineMs":5}`, 400, failure.InvalidDeadline},
		{`{"projectId":"p","type":"terminal","command":"broken"}`, 422, failure.PermissionsFileInvalid},
	} {
		status, answer := h.do(t, "POST", "/actions", agentToken, c.body)
		if status != c.status {
			t.Errorf("%.60s: %d, want %d: %v", c.body, status, c.status, answer)
		}
		failuretest.Produced(t, named(answer), c.want)
	}
	status, answer := h.do(t, "POST", "/actions?wait=soon", agentToken, `{"projectId":"p","type":"terminal","command":"allowed"}`)
	if status != 400 {
		t.Error(status, answer)
	}
	if all := h.List(""); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	status, answer = h.do(t, "GET", "/actions/nowhere", agentToken, "")
	if status != 404 {
		t.Error(status)
	}
	failuretest.Produced(t, named(answer), failure.ActionNotFound)
	if status, answer = h.do(t, "GET", "/actions/nowhere?wait=soon", personToken, ""); status != 400 {
		t.Error(status, answer)
	}
}

func TestWithoutARunnerAnApprovedActionFailsByName(t *testing.T) {
	h := newTestHub(t)
	a := h.wait(t, h.propose(t, "allowed").ID)
	if a.Status != Failed || a.Outcome.ExitCode != nil {
		t.Fatalf("%+v", a)
	}
	failuretest.Produced(t, a.Outcome.Failure, failure.NoRunner)
}

func TestResultThatNeverComesEndsTheActionByName(t *testing.T) {
	h := newTestHub(t)
	r := h.runner(t, action.Known()...)
	a := h.propose(t, "allowed")
	r.exec(t)
	h.mu.Lock()
	r2 := h.running[a.ID]
	h.mu.Unlock()
	h.giveUp(r2, failure.New(failure.RunnerGone, "project p")) // what the timer does
	a = h.wait(t, a.ID)
	failuretest.Produced(t, a.Outcome.Failure, failure.RunnerGone)
	r.finish(t, a.ID, 0) // too late, acknowledged, and changes nothing
	if late := h.wait(t, a.ID); late.Status != Failed {
		t.Errorf("%+v", late)
	}
}

func TestOneRunnerAProject(t *testing.T) {
	h := newTestHub(t)
	first := h.runner(t, action.ExtAck)
	var refused *channel.JoinError
	if _, err := h.tryJoin(t, "terminal:p", action.NewJoin([]string{"exec"}, nil)); !errors.As(err, &refused) || refused.Reason() != refusedSecond {
		t.Errorf("second runner: %v", err)
	}
	if _, err := h.tryJoin(t, "terminal:q", action.NewJoin([]string{"exec"}, nil)); !errors.As(err, &refused) || refused.Reason() != refusedUnauthorized {
		t.Errorf("another project's topic: %v", err)
	}
	if !h.DropRunner("p") || h.DropRunner("nowhere") {
		t.Error("the runner was not dropped")
	}
	<-first.conn.Done()
	if _, err := h.tryJoin(t, "terminal:p", action.NewJoin([]string{"workspace"}, nil)); !errors.As(err, &refused) || refused.Reason() != refusedCapability {
		t.Errorf("without the capability: %v", err)
	}
}

func TestActionsWithoutResultAreSentAgainToARunnerThatRemembers(t *testing.T) {
	h := newTestHub(t)
	r := h.runner(t, action.Known()...)
	one, two := h.propose(t, "allowed one"), h.propose(t, "allowed two")
	r.exec(t)
	r.exec(t)
	r.finish(t, one.ID, 0)
	r.conn.Close()
	h.gone(t)
	three := h.propose(t, "allowed while nobody was there")
	again := h.runner(t, action.Known()...)
	for _, want := range []string{two.ID, three.ID} {
		if m := again.exec(t); m.Ref != want {
			t.Errorf("got %s, want %s", m.Ref, want)
		}
		again.finish(t, want, 0)
	}
	for _, id := range []string{one.ID, two.ID, three.ID} {
		if a := h.wait(t, id); a.Status != Executed {
			t.Errorf("%+v", a)
		}
	}
}

func TestRunnerWithoutMemoryGetsNothingTwice(t *testing.T) {
	h := newTestHub(t)
	r := h.runner(t)
	h.propose(t, "allowed one")
	if m := r.exec(t); m.DeadlineMs != 0 || m.Decision != nil {
		t.Errorf("fields of extensions that were not granted: %+v", m)
	}
	r.conn.Close()
	h.gone(t)
	two := h.propose(t, "allowed two")
	again := h.runner(t)
	if m := again.exec(t); m.Ref != two.ID {
		t.Errorf("sent again: %+v", m)
	}
}

// gone waits until the hub has noticed that its runner left.
func (h *testHub) gone(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
		if !h.RunnerConnected("p") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the runner is still there")
		}
	}
}

func TestContainerActionsTravelInTheContractsForm(t *testing.T) {
	h := newTestHub(t)
	r := h.runner(t, action.Known()...)
	start, err := h.Propose(Proposal{ProjectID: "p", Type: "container_start", Container: &ContainerSpec{Image: "alpine:3"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Approve(start.ID, "ana"); err != nil {
		t.Fatal(err)
	}
	msg := <-r.ch.Receive()
	want := `"spec":{"workspaceDirName":"p","projectId":"p","projectSlug":"shop","workspaceId":"local","imagem":"alpine:3","imagemVersao":"1","rede":"none","cpus":1,"memoriaMb":1024,"pidsLimit":256}`
	if msg.Event != action.EventContainerStart || !strings.Contains(string(msg.Payload), want) {
		t.Errorf("%s %s", msg.Event, msg.Payload)
	}
	up := true
	if _, err := r.ch.Call(context.Background(), action.EventContainerStartResult, action.ContainerResult{Ref: start.ID, Sucesso: true, Nome: "brabo-p", JaEstavaDePe: &up}); err != nil {
		t.Fatal(err)
	}
	if a := h.wait(t, start.ID); a.Status != Executed || a.Outcome.Container != "brabo-p" || !a.Outcome.AlreadyUp {
		t.Errorf("%+v", a.Outcome)
	}
	remove, err := h.Propose(Proposal{ProjectID: "p", Type: "container_remove"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Approve(remove.ID, "ana"); err != nil {
		t.Fatal(err)
	}
	if msg := <-r.ch.Receive(); msg.Event != action.EventContainerRemove || !strings.Contains(string(msg.Payload), `"workspaceDirName":"p"`) {
		t.Errorf("%s %s", msg.Event, msg.Payload)
	}
	fail := failure.New(failure.EngineNotRunning, "engine")
	if _, err := r.ch.Call(context.Background(), action.EventContainerRemoveResult, action.ContainerFailed(remove.ID, fail)); err != nil {
		t.Fatal(err)
	}
	if a := h.wait(t, remove.ID); a.Status != Failed || a.Outcome.Failure.Name != failure.EngineNotRunning {
		t.Errorf("%+v", a.Outcome)
	}
	_, err = h.Propose(Proposal{ProjectID: "p", Type: "container_start"})
	failuretest.Produced(t, err, failure.BadRequest)
}

func TestCancelIsSentToWhoCanHearIt(t *testing.T) {
	h := newTestHub(t)
	failuretest.Produced(t, h.Cancel("nowhere", ""), failure.ActionNotFound)
	r := h.runner(t, action.Known()...)
	asks := h.propose(t, "asks")
	failuretest.Produced(t, h.Cancel(asks.ID, ""), failure.InvalidTransition)
	a := h.propose(t, "allowed")
	r.exec(t)
	if status, answer := h.do(t, "POST", "/actions/"+a.ID+"/cancel", personToken, ""); status != 200 {
		t.Fatal(status, answer)
	}
	if msg := <-r.ch.Receive(); msg.Event != action.EventExecCancel || !strings.Contains(string(msg.Payload), a.ID) {
		t.Errorf("%+v", msg)
	}
	r.conn.Close()
	h.gone(t)
	failuretest.Produced(t, h.Cancel(a.ID, ""), failure.NoRunner)
}

func TestLongPollAnswersWithTheActionAsItIs(t *testing.T) {
	h := newTestHub(t)
	a := h.propose(t, "asks")
	if status, answer := h.do(t, "GET", "/actions/"+a.ID+"?wait=0", agentToken, ""); status != 200 || answer["status"] != "pending" {
		t.Error(status, answer)
	}
	done := make(chan map[string]any)
	go func() {
		_, answer := h.do(t, "GET", "/actions/"+a.ID+"?wait=50", agentToken, "")
		done <- answer
	}()
	if _, err := h.Deny(a.ID, "ana", "no"); err != nil {
		t.Fatal(err)
	}
	if answer := <-done; answer["status"] != "denied" || answer["rejectionReason"] != "no" {
		t.Error(answer)
	}
}

func TestMalformedResultIsAnsweredAndKeepsTheChannel(t *testing.T) {
	h := newTestHub(t)
	r := h.runner(t, action.ExtAck)
	var refused *channel.ReplyError
	if _, err := r.ch.Call(context.Background(), action.EventExecResult, []int{1}); !errors.As(err, &refused) {
		t.Errorf("%v", err)
	}
	if err := r.ch.Push(context.Background(), "surprise", 1); err != nil {
		t.Fatal(err)
	}
	r.finish(t, "unknown", 0)
}

func TestClosedHubTakesNoProposals(t *testing.T) {
	h := newTestHub(t)
	if err := h.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	_, err := h.Propose(Proposal{ProjectID: "p", Type: "terminal", Command: "asks"})
	failuretest.Produced(t, err, failure.Draining)
}
