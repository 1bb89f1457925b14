package hub

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/policy"
)

// terminal asks for a terminal of a project, and gives the failure of a refusal.
func (h *testHub) terminal(t *testing.T, project, token, origin string) (*websocket.Conn, int, *failure.Failure) {
	t.Helper()
	header := http.Header{"Authorization": {"Bearer " + token}}
	if origin != "" {
		header.Set("Origin", origin)
	}
	ws, response, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(h.url, "http")+"/projects/"+project+"/terminal?cols=90&rows=20", header)
	if err == nil {
		t.Cleanup(func() { ws.Close() })
		return ws, http.StatusSwitchingProtocols, nil
	}
	if response == nil {
		t.Fatal(err)
	}
	var said struct{ Failure *failure.Failure }
	_ = json.NewDecoder(response.Body).Decode(&said) // a refusal of another form is seen by its nil failure
	return nil, response.StatusCode, said.Failure
}

func TestWhoMayOpenATerminal(t *testing.T) {
	h := newTestHub(t)
	_, status, fail := h.terminal(t, "p", personToken, "")
	failuretest.Produced(t, fail, failure.NoRunner)
	if status != http.StatusConflict {
		t.Error(status)
	}
	without := h.runner(t)
	_, _, fail = h.terminal(t, "p", personToken, "")
	failuretest.Produced(t, fail, failure.TerminalsDisabled)
	without.conn.Close()
	<-without.conn.Done()

	for name, c := range map[string]struct {
		project, token, origin string
		status                 int
	}{
		"an agent": {"p", agentToken, "", 403}, "nobody": {"p", "x", "", 401}, "another site": {"p", personToken, "https://evil.example", 403},
		"another project": {"gone", personToken, "", 404},
	} {
		if _, status, _ := h.terminal(t, c.project, c.token, c.origin); status != c.status {
			t.Errorf("%s: %d", name, status)
		}
	}
}

// TestAttackTerminalOfAPersonWhoWasRemoved: what is open ends with the right to it.
func TestAttackTerminalOfAPersonWhoWasRemoved(t *testing.T) {
	for name, end := range map[string]func(*testHub) error{
		"removed": func(h *testHub) error { return h.RemoveMember(Actor{kindPerson, "ana"}, "bia") },
		"lowered": func(h *testHub) error { return h.SetRole(Actor{kindPerson, "ana"}, "bia", policy.Viewer) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newTestHub(t)
			token, err := h.AddMember(Actor{kindPerson, "ana"}, "bia", policy.Developer)
			if err != nil {
				t.Fatal(err)
			}
			r, err := h.tryJoin(t, "terminal:p", action.NewJoin([]string{"exec", "pty"}, action.Known()))
			if err != nil {
				t.Fatal(err)
			}
			mine, _, fail := h.terminal(t, "p", personToken, "")
			if fail != nil {
				t.Fatal(fail)
			}
			<-r.ch.Receive() // its pty_open
			ws, _, fail := h.terminal(t, "p", token, "")
			if fail != nil {
				t.Fatal(fail)
			}
			<-r.ch.Receive()
			if err := end(h); err != nil {
				t.Fatal(err)
			}
			_ = ws.WriteMessage(websocket.BinaryMessage, []byte("id\n")) // an error is as good
			_, said, err := ws.ReadMessage()
			if err != nil || !strings.Contains(string(said), `"forbidden"`) {
				t.Errorf("%s, %v", said, err)
			}
			ws.Close() // else it is given time to read the last word
			if msg := <-r.ch.Receive(); msg.Event != action.EventPtyClose {
				t.Errorf("the runner heard %s %s", msg.Event, msg.Payload)
			}
			if err := mine.WriteMessage(websocket.BinaryMessage, []byte("id\n")); err != nil {
				t.Fatal(err)
			}
			if msg := <-r.ch.Receive(); msg.Event != action.EventPtyInput { // others go on
				t.Errorf("the runner heard %s %s", msg.Event, msg.Payload)
			}
		})
	}
}

// TestAttackTerminalOfABrowserThatSignedOut: it ends with the session, and that of the same person's other browser goes on.
func TestAttackTerminalOfABrowserThatSignedOut(t *testing.T) {
	h := newTestHub(t)
	r, err := h.tryJoin(t, "terminal:p", action.NewJoin([]string{"exec", "pty"}, action.Known()))
	if err != nil {
		t.Fatal(err)
	}
	one, other := h.browser(t, "ana"), h.browser(t, "ana")
	opened := func(cookie *http.Cookie) *websocket.Conn {
		t.Helper()
		header := http.Header{"Origin": {h.url}, "Cookie": {cookie.Name + "=" + cookie.Value}}
		ws, _, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(h.url, "http")+"/projects/p/terminal?cols=90&rows=20", header)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ws.Close() })
		if msg := <-r.ch.Receive(); msg.Event != action.EventPtyOpen {
			t.Fatalf("the runner heard %s", msg.Event)
		}
		return ws
	}
	ended, goesOn := opened(one), opened(other)
	if status, answer := h.do(t, "POST", "/logout", "", "", as(one, true)); status != http.StatusNoContent {
		t.Fatal(status, answer)
	}
	if _, said, err := ended.ReadMessage(); err != nil || !strings.Contains(string(said), `"forbidden"`) {
		t.Errorf("%s, %v", said, err)
	}
	ended.Close() // else it is given time to read the last word
	if msg := <-r.ch.Receive(); msg.Event != action.EventPtyClose {
		t.Errorf("the runner heard %s %s", msg.Event, msg.Payload)
	}
	if err := goesOn.WriteMessage(websocket.BinaryMessage, []byte("id\n")); err != nil {
		t.Fatal(err)
	}
	if msg := <-r.ch.Receive(); msg.Event != action.EventPtyInput {
		t.Errorf("the runner heard %s %s", msg.Event, msg.Payload)
	}
}

// TestTerminalGoesBetweenPersonAndRunner plays the runner's side of protocol.md 4.5.
func TestTerminalGoesBetweenPersonAndRunner(t *testing.T) {
	h := newTestHub(t)
	r, err := h.tryJoin(t, "terminal:p", action.NewJoin([]string{"exec", "pty"}, action.Known()))
	if err != nil {
		t.Fatal(err)
	}
	ws, _, fail := h.terminal(t, "p", personToken, h.url)
	if fail != nil {
		t.Fatal(fail)
	}
	msg := <-r.ch.Receive()
	open, fail := action.DecodePtyOpen(msg.Payload)
	if fail != nil || open.Cols != 90 || open.Rows != 20 || open.By != "ana" {
		t.Fatalf("%s %s: %v", msg.Event, msg.Payload, fail)
	}
	say := func(kind int, data string) {
		t.Helper()
		if err := ws.WriteMessage(kind, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	push := func(event string, payload any) {
		t.Helper()
		if err := r.ch.Push(t.Context(), event, payload); err != nil {
			t.Fatal(err)
		}
	}
	hears := func(want string) {
		t.Helper()
		if _, data, err := ws.ReadMessage(); err != nil || string(data) != want {
			t.Fatalf("%q, %v", data, err)
		}
	}
	push(action.EventPtyOpened, action.PtyOpened{SessionRef: open.SessionRef})
	hears(`{"opened":true}`)
	say(websocket.BinaryMessage, "l\xffs")
	if ref, data, fail := action.DecodePtyInput((<-r.ch.Receive()).Payload); fail != nil || ref != open.SessionRef || string(data) != "l\xffs" {
		t.Errorf("%q for %s: %v", data, ref, fail)
	}
	say(websocket.TextMessage, `{"cols":10,"rows":5}`)
	if _, cols, rows, fail := action.DecodePtyResize((<-r.ch.Receive()).Payload); fail != nil || cols != 10 || rows != 5 {
		t.Errorf("%d by %d: %v", cols, rows, fail)
	}
	push(action.EventPtyData, action.PtyData{SessionRef: "another", Data: []byte("not for this one")})
	push(action.EventPtyData, action.PtyData{SessionRef: open.SessionRef, Data: []byte{0xc3}}) // half a character
	hears("\xc3")
	code := 3
	push(action.EventPtyClosed, action.PtyClosed{SessionRef: open.SessionRef, ExitCode: &code})
	hears(`{"closed":{"exitCode":3}}`)
	if _, _, err := ws.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
		t.Error(err)
	}

	// Who leaves has the terminal ended; nothing was sent for the one that had ended there.
	left, _, fail := h.terminal(t, "p", personToken, "")
	if fail != nil {
		t.Fatal(fail)
	}
	open, _ = action.DecodePtyOpen((<-r.ch.Receive()).Payload)
	left.Close()
	msg = <-r.ch.Receive()
	if ref, fail := action.DecodePtyClose(msg.Payload); msg.Event != action.EventPtyClose || fail != nil || ref != open.SessionRef {
		t.Errorf("%s %s", msg.Event, msg.Payload)
	}
	// The runner's end is the person's.
	if ws, _, fail = h.terminal(t, "p", personToken, ""); fail != nil {
		t.Fatal(fail)
	}
	<-r.ch.Receive()
	r.conn.Close()
	var news TerminalNews
	if err := ws.ReadJSON(&news); err != nil {
		t.Fatal(err)
	}
	failuretest.Produced(t, news.Failure, failure.RunnerGone)
}

// TestStandingStillCostsOutputAndNothingElse: a person's side that takes nothing does not hold the runner's channel up.
func TestStandingStillCostsOutputAndNothingElse(t *testing.T) {
	s := newScreen("a")
	for range screenFrames + 100 {
		s.put([]byte("xy"))
	}
	if s.lost != 200 || len(s.frames) != screenFrames {
		t.Errorf("%d bytes lost, %d frames kept", s.lost, len(s.frames))
	}
	<-s.frames
	s.put([]byte("z"))
	for len(s.frames) > 1 {
		<-s.frames
	}
	if last := <-s.frames; s.lost != 0 || !bytes.HasSuffix(last.data, []byte("[200 bytes were not shown]\r\nz")) {
		t.Errorf("%d lost, %q", s.lost, last.data)
	}
	s.end(TerminalNews{})
	s.end(TerminalNews{Opened: true})
	if s.last.Opened {
		t.Error("the second last word counts")
	}
}
