package hub

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/hub/store"
)

// awaitEvents gives the events of a type once there are so many.
func (h *testHub) awaitEvents(t *testing.T, kind string, n int) []Event {
	t.Helper()
	late := time.After(time.Minute)
	for {
		heard := h.news.heard()
		events, err := h.Events(store.EventFilter{Type: kind, Limit: maxEvents})
		if err != nil {
			t.Fatal(err)
		}
		if len(events) >= n {
			return events
		}
		select {
		case <-heard:
		case <-late:
			t.Fatalf("%d of %d events %s", len(events), n, kind)
		}
	}
}

// readToTheEnd reads until the hub has said its last word, and closes.
func readToTheEnd(ws *websocket.Conn) {
	for {
		if _, _, err := ws.ReadMessage(); err != nil {
			ws.Close()
			return
		}
	}
}

// TestTerminalsAreInTheLog: who opened one, how it ended, and how much went through it, but nothing of what was typed.
func TestTerminalsAreInTheLog(t *testing.T) {
	h := newTestHub(t)
	r, err := h.tryJoin(t, "terminal:p", action.NewJoin([]string{"exec", "pty"}, action.Known()))
	if err != nil {
		t.Fatal(err)
	}
	open := func() (*websocket.Conn, action.PtyOpen) {
		t.Helper()
		ws, _, fail := h.terminal(t, "p", personToken, "")
		if fail != nil {
			t.Fatal(fail)
		}
		asked, fail := action.DecodePtyOpen((<-r.ch.Receive()).Payload)
		if fail != nil {
			t.Fatal(fail)
		}
		return ws, asked
	}
	shell, asked := open()
	opened := h.awaitEvents(t, eventTermOpened, 1)[0]
	if opened.Actor != (Actor{kindPerson, "ana"}) || opened.Project != "p" {
		t.Errorf("%+v", opened)
	}
	if err := shell.WriteMessage(websocket.BinaryMessage, []byte("secret")); err != nil {
		t.Fatal(err)
	}
	<-r.ch.Receive()
	code := 3
	if err := r.ch.Push(t.Context(), action.EventPtyData, action.PtyData{SessionRef: asked.SessionRef, Data: []byte("four")}); err != nil {
		t.Fatal(err)
	}
	if err := r.ch.Push(t.Context(), action.EventPtyClosed, action.PtyClosed{SessionRef: asked.SessionRef, ExitCode: &code}); err != nil {
		t.Fatal(err)
	}
	readToTheEnd(shell)

	type told struct {
		TerminalID string `json:"terminalId"`
		OpenedBy   string `json:"openedBy"`
		In         int    `json:"bytesIn"`
		Out        int    `json:"bytesOut"`
		ExitCode   *int   `json:"exitCode"`
		Failure    *struct{ Name string }
	}
	ended := func(n int) (e Event, p told) {
		t.Helper()
		e = h.awaitEvents(t, eventTermEnded, n)[n-1]
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			t.Fatal(err)
		}
		if p.OpenedBy != "ana" {
			t.Errorf("%s", e.Payload)
		}
		return e, p
	}
	if e, p := ended(1); e.Actor != system || p.TerminalID != asked.SessionRef || p.In != 6 || p.Out != 4 || p.ExitCode == nil || *p.ExitCode != 3 {
		t.Errorf("ended by its shell: %+v %s", e, e.Payload)
	}
	left, _ := open()
	left.Close()
	if e, p := ended(2); e.Actor != (Actor{kindPerson, "ana"}) || p.ExitCode != nil || p.Failure != nil {
		t.Errorf("left: %+v %s", e, e.Payload)
	}
	<-r.ch.Receive() // its pty_close
	cut, _ := open()
	r.conn.Close()
	readToTheEnd(cut)
	if e, p := ended(3); e.Actor != system || p.Failure == nil || p.Failure.Name != "runner_gone" {
		t.Errorf("the runner went: %+v %s", e, e.Payload)
	}
}
