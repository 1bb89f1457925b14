package hub

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/hub/store"
)

// waiter waits for an action on a WebSocket.
func (h *testHub) waiter(t *testing.T, id, token string) (*websocket.Conn, int) {
	t.Helper()
	ws, response, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(h.url, "http")+"/actions/"+id+"/wait",
		http.Header{"Authorization": {"Bearer " + token}})
	if err != nil {
		if response == nil {
			t.Fatal(err)
		}
		return nil, response.StatusCode
	}
	t.Cleanup(func() { ws.Close() })
	return ws, response.StatusCode
}

// tells gives the next state that a waiter is told.
func tells(t *testing.T, ws *websocket.Conn) (a Action) {
	t.Helper()
	if err := errors.Join(ws.SetReadDeadline(time.Now().Add(time.Minute)), ws.ReadJSON(&a)); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestWaiterOnAWebSocketHearsEachStepAndTheOutcome(t *testing.T) {
	h := newTestHub(t)
	r := h.runner(t, action.Known()...)
	yes, no := h.propose(t, "asks"), h.propose(t, "asks again")
	first, _ := h.waiter(t, yes.ID, agentToken)
	second, _ := h.waiter(t, no.ID, agentToken)
	for _, ws := range []*websocket.Conn{first, second} {
		if a := tells(t, ws); a.Status != Pending {
			t.Errorf("%+v", a)
		}
	}
	if _, err := h.Approve(yes.ID, "ana"); err != nil {
		t.Fatal(err)
	}
	if a := tells(t, first); a.Status != Approved || *a.DecidedBy != "ana" {
		t.Errorf("%+v", a)
	}
	r.finish(t, r.exec(t).Ref, 3)
	if a := tells(t, first); a.Status != Failed || a.Outcome == nil || *a.Outcome.ExitCode != 3 || a.Outcome.Output != "out" {
		t.Errorf("%+v", a)
	}
	if _, err := h.Deny(no.ID, "ana", "use go build"); err != nil {
		t.Fatal(err)
	}
	if a := tells(t, second); a.Status != Denied || a.RejectionReason != "use go build" {
		t.Errorf("%+v", a)
	}
	late, _ := h.waiter(t, yes.ID, agentToken) // what has ended is told at once
	if a := tells(t, late); a.Status != Failed {
		t.Errorf("%+v", a)
	}
	for _, ws := range []*websocket.Conn{first, second, late} {
		if _, _, err := ws.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
			t.Error(err)
		}
	}
	for _, a := range []Action{yes, no} {
		if steps, _ := h.log(t, a.ID); count(steps, eventWaiterGone) != 0 {
			t.Errorf("%q", steps)
		}
	}
	token, err := h.AddAgent(Principal{Kind: kindPerson, ID: "ana", Role: "owner"}, "p", "other")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id, token string
		want      int
	}{{yes.ID, token, 404}, {"nobody", agentToken, 404}, {yes.ID, "wrong", 401}, {yes.ID, runnerToken, 401}} {
		if _, status := h.waiter(t, c.id, c.token); status != c.want {
			t.Errorf("%s: %d, want %d", c.id, status, c.want)
		}
	}
}

// TestWaiterWhoWasRemovedHearsNoMore: neither what was decided nor what came out.
func TestWaiterWhoWasRemovedHearsNoMore(t *testing.T) {
	h := newTestHub(t)
	owner := Principal{Kind: kindPerson, ID: "ana", Role: "owner"}
	token, err := h.AddAgent(owner, "p", "other")
	if err != nil {
		t.Fatal(err)
	}
	status, proposed := h.do(t, http.MethodPost, "/actions", token, `{"projectId":"p","type":"terminal","command":"asks"}`)
	id, _ := proposed["id"].(string)
	ws, _ := h.waiter(t, id, token)
	if got := tells(t, ws); status >= 300 || got.Status != Pending {
		t.Fatalf("%d %v %+v", status, proposed, got)
	}
	if err := h.RemoveAgent(owner, "p", "other"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Approve(id, "ana"); err != nil {
		t.Fatal(err)
	}
	if _, text, err := ws.ReadMessage(); err == nil {
		t.Errorf("it was told %s", text)
	}
}

// TestWaiterWhoHeardTheEndLeavesNothing: one that hangs up at the last word is remembered by nobody.
func TestWaiterWhoHeardTheEndLeavesNothing(t *testing.T) {
	h := newTestHub(t)
	a := h.propose(t, "asks")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	pending := make(chan struct{})
	go func() {
		_, err := h.follow(ctx, a.ID, func(a Action) error {
			if a.Status.Final() {
				cancel()
			} else {
				close(pending)
			}
			return nil
		})
		ended <- err
	}()
	<-pending
	if _, err := h.Deny(a.ID, "ana", "no"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.watches) > 0 {
		t.Errorf("%d are remembered", len(h.watches))
	}
}

// TestWaiterThatHangsUpIsGone: the action stays decidable, the log says that nobody heard, and the outcome can be fetched.
func TestWaiterThatHangsUpIsGone(t *testing.T) {
	h := newTestHub(t)
	a := h.propose(t, "asks")
	ws, _ := h.waiter(t, a.ID, agentToken)
	tells(t, ws)
	ws.Close()
	h.left(t, a.ID)
	if _, err := h.Deny(a.ID, "ana", "no"); err != nil {
		t.Fatal(err)
	}
	steps, payloads := h.log(t, a.ID)
	if count(steps, eventWaiterGone) != 1 || payloads[eventWaiterGone]["agentId"] != localAgent || payloads[eventWaiterGone]["status"] != "denied" {
		t.Errorf("%q %v", steps, payloads)
	}
	if status, answer := h.do(t, "GET", "/actions/"+a.ID, agentToken, ""); status != 200 || answer["rejectionReason"] != "no" {
		t.Errorf("%d %v", status, answer)
	}
}

// awaitWaiter polls until the hub sees who waits for an action as ok does.
func (h *testHub) awaitWaiter(t *testing.T, id, what string, ok func(*watch) bool) {
	t.Helper()
	late := time.Now().Add(time.Minute)
	for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
		h.mu.Lock()
		w := h.watches[id]
		seen := w != nil && ok(w)
		h.mu.Unlock()
		if seen {
			return
		}
		if time.Now().After(late) {
			t.Fatal("not so within a minute: " + what)
		}
	}
}

func (h *testHub) left(t *testing.T, id string) {
	t.Helper()
	h.awaitWaiter(t, id, "nobody waits any more", func(w *watch) bool { return w.left && w.waiting == 0 })
}

// TestWaitersOutliveTheHub: a hub that stops tells its waiters so, and the next one knows the action by its id, whichever
// way it is waited for; a long poll that its client ends counts as gone there, too.
func TestWaitersOutliveTheHub(t *testing.T) {
	folder := t.TempDir()
	start := func() *testHub {
		s, err := store.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return serveHub(t, Config{Store: s, Decider: byText{}, Projects: []Project{{ID: "p", Mode: ModeMounted, Root: "/srv/p"}}})
	}
	h := start()
	a, unheard := h.propose(t, "asks"), h.propose(t, "asks too")
	ws, _ := h.waiter(t, a.ID, agentToken)
	tells(t, ws)
	polled := make(chan map[string]any, 1)
	go func() {
		_, answer := h.do(t, "GET", "/actions/"+a.ID+"?wait=50", agentToken, "")
		polled <- answer
	}()
	if err := h.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ws.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseGoingAway) {
		t.Error(err)
	}
	if answer := <-polled; answer["status"] != "pending" {
		t.Error(answer)
	}
	if err := h.store.Close(); err != nil {
		t.Fatal(err)
	}

	h = start()
	again, _ := h.waiter(t, a.ID, agentToken)
	if told := tells(t, again); told.Status != Pending {
		t.Errorf("%+v", told)
	}
	ctx, hangUp := context.WithCancel(t.Context())
	q, err := http.NewRequestWithContext(ctx, "GET", h.url+"/actions/"+unheard.ID+"?wait=50", nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+agentToken)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if response, err := http.DefaultClient.Do(q); err == nil {
			response.Body.Close()
			t.Error("it was answered")
		}
	}()
	h.awaitWaiter(t, unheard.ID, "somebody waits", func(w *watch) bool { return w.waiting > 0 })
	hangUp()
	<-ended
	h.left(t, unheard.ID)
	for _, id := range []string{a.ID, unheard.ID} {
		if _, err := h.Deny(id, "ana", "not today"); err != nil {
			t.Fatal(err)
		}
	}
	if told := tells(t, again); told.Status != Denied || told.RejectionReason != "not today" {
		t.Errorf("%+v", told)
	}
	readToTheEnd(again)
	for id, want := range map[string]int{a.ID: 0, unheard.ID: 1} {
		if steps, _ := h.log(t, id); count(steps, eventWaiterGone) != want {
			t.Errorf("%q", steps)
		}
	}
}
