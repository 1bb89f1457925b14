package hub

import (
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// What a terminal's WebSocket carries: bytes in binary messages, as they were typed or came out, and in text messages
// a TerminalSize towards the hub and a TerminalNews from it.
const (
	// maxTyped bounds one message of a person, in bytes.
	maxTyped = 64 << 10
	// goodbye is how long a person's side may take to close after the last word.
	goodbye = 10 * time.Second
	// mostCells bounds a side of a terminal.
	mostCells = 1<<16 - 1
)

// TerminalSize is how large the person's window is, in characters.
type TerminalSize struct {
	Cols int `json:"cols"`
	Rows int `json:"rows"`
}

// TerminalNews is what became of a terminal. After Closed or Failure nothing comes any more.
type TerminalNews struct {
	Opened  bool             `json:"opened,omitempty"`
	Closed  *TerminalExit    `json:"closed,omitempty"`
	Failure *failure.Failure `json:"failure,omitempty"`
}

// TerminalExit is how a terminal's shell ended by itself.
type TerminalExit struct {
	ExitCode *int   `json:"exitCode,omitempty"` // nil where a signal ended it, or nobody knows
	Signal   string `json:"signal,omitempty"`
}

// Messages to a runner (protocol.md 4.5).
type (
	ptyOpen struct {
		SessionRef string `json:"sessionRef"`
		TerminalSize
		By string `json:"by"`
	}
	ptyInput struct {
		SessionRef string `json:"sessionRef"`
		Data       []byte `json:"data"`
	}
	ptyResize struct {
		SessionRef string `json:"sessionRef"`
		TerminalSize
	}
	ptyClose struct {
		SessionRef string `json:"sessionRef"`
	}
)

// getTerminal opens a terminal in a project's folder for a person, and is the way between the two until either ends.
func (h *Hub) getTerminal(w http.ResponseWriter, r *http.Request, who Principal) {
	cols, err := number(r, "cols", 80, mostCells)
	rows, badRows := number(r, "rows", 24, mostCells)
	if err == nil {
		err = badRows
	}
	if err == nil && !websocket.IsWebSocketUpgrade(r) {
		err = failure.New(failure.BadRequest, "terminal").Because("a terminal is a WebSocket")
	}
	s := newScreen(rand.Text())
	s.may = func() bool {
		p, known, err := h.who(r)
		return err == nil && known && person(policy.Developer)(p)
	}
	var link *runnerLink
	if err == nil {
		link, err = h.seat(r.PathValue("id"), s)
	}
	if err != nil {
		writeError(w, err)
		return
	}
	defer h.work.Done()
	defer h.leave(link, s)
	project, typed := r.PathValue("id"), 0
	// What can't be told later is not opened.
	if err := h.emitTerminal(eventTermOpened, who.actor(), project, payload{"terminalId": s.ref, "cols": cols, "rows": rows}); err != nil {
		writeError(w, err)
		return
	}
	defer func() { h.terminalEnded(who.actor(), project, s, typed) }()
	upgrader := websocket.Upgrader{CheckOrigin: h.originAllowed, HandshakeTimeout: goodbye}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // it has been answered
	}
	var both sync.WaitGroup
	over := make(chan struct{})
	both.Go(func() { s.show(ws) })
	both.Go(func() {
		s.untilClosing(h.stop, over)
		ws.Close()
	})
	h.review(s) // between the look at who asks and the seat they may have been removed
	typed = relay(ws, link, s, ptyOpen{s.ref, TerminalSize{int(cols), int(rows)}, who.ID})
	close(over)
	s.end(TerminalNews{})
	ws.Close()
	both.Wait()
}

// emitTerminal puts a terminal's beginning or end into the log.
func (h *Hub) emitTerminal(kind string, by Actor, project string, p payload) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.commitLocked(func(tx store.Tx) error { return emit(tx, time.Now(), kind, by, project, "", p) })
}

// terminalEnded tells how a terminal ended and how much went through it, once the person's side is closed. Who ended it is
// the person who left, or else the system.
func (h *Hub) terminalEnded(by Actor, project string, s *screen, typed int) {
	p, last := payload{"terminalId": s.ref, "openedBy": by.ID, "bytesIn": typed, "bytesOut": s.shown}, s.lastWord()
	if last.Closed != nil {
		p["exitCode"], p["signal"] = last.Closed.ExitCode, last.Closed.Signal
	}
	if last.Failure != nil {
		p["failure"] = last.Failure
	}
	if last != (TerminalNews{}) || h.stopped() {
		by = system
	}
	if err := h.emitTerminal(eventTermEnded, by, project, p); err != nil {
		h.c.Log.Error("the end of a terminal is not stored", "project", project, "terminal", s.ref, "error", err)
	}
}

// relay opens the terminal and hands on what the person types, until their side ends.
func relay(ws *websocket.Conn, link *runnerLink, s *screen, open ptyOpen) (typed int) {
	if !s.over() { // else it was ended before it began
		if err := link.ch.Push(action.EventPtyOpen, open); err != nil {
			s.end(TerminalNews{Failure: failure.New(failure.NoRunner, "terminal").Wrap(err)})
		}
	}
	ws.SetReadLimit(maxTyped)
	for {
		kind, data, err := ws.ReadMessage()
		if err != nil {
			return typed
		}
		if s.over() {
			continue // until the other side has closed
		}
		event, message := action.EventPtyInput, any(ptyInput{s.ref, data})
		if kind == websocket.TextMessage {
			var size TerminalSize
			if json.Unmarshal(data, &size) != nil {
				return typed
			}
			event, message = action.EventPtyResize, ptyResize{s.ref, size}
		} else {
			typed += len(data)
		}
		if err := link.ch.Push(event, message); err != nil {
			s.end(TerminalNews{Failure: failure.New(failure.RunnerGone, "terminal").Wrap(err)})
		}
	}
}

// seat gives a screen its place at the runner of a project.
func (h *Hub) seat(projectID string, s *screen) (*runnerLink, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	subject := "project " + printable(projectID)
	p := h.projects[projectID]
	switch {
	case p == nil:
		return nil, failure.New(failure.ProjectNotFound, subject)
	case h.closed:
		return nil, failure.New(failure.Draining, "hub")
	case p.runner == nil:
		return nil, failure.New(failure.NoRunner, subject)
	case !p.runner.pty:
		return nil, failure.New(failure.TerminalsDisabled, subject)
	}
	p.runner.screens[s.ref] = s
	h.work.Add(1)
	return p.runner, nil
}

// reviewAll ends the terminals of those who may have none any more. It is called without the lock, after a change of
// people or their sessions.
func (h *Hub) reviewAll() {
	var all []*screen
	h.mu.Lock()
	for _, p := range h.projects {
		if p.runner != nil {
			all = slices.AppendSeq(all, maps.Values(p.runner.screens))
		}
	}
	h.mu.Unlock()
	for _, s := range all {
		h.review(s)
	}
}

func (h *Hub) review(s *screen) {
	if !s.may() {
		s.end(TerminalNews{Failure: failure.New(failure.Forbidden, "terminal").Because("who opened it may have none any more")})
	}
}

// leave gives a screen's place up, and has the runner end what still runs in it.
func (h *Hub) leave(link *runnerLink, s *screen) {
	h.mu.Lock()
	delete(link.screens, s.ref)
	h.mu.Unlock()
	if !s.endedThere() {
		// An error here means that the runner is gone, and its terminals with it.
		_ = link.ch.Push(action.EventPtyClose, ptyClose{s.ref})
	}
}

// terminal takes what a runner tells of a terminal; false for other events.
func (r *runnerHandler) terminal(event string, payload json.RawMessage) bool {
	var m struct {
		SessionRef string           `json:"sessionRef"`
		Data       []byte           `json:"data"`
		ExitCode   *int             `json:"exitCode"`
		Signal     string           `json:"signal"`
		Message    string           `json:"message"`
		Failure    *failure.Failure `json:"failure"`
	}
	switch event {
	case action.EventPtyOpened, action.EventPtyData, action.EventPtyClosed, action.EventPtyError, action.EventPtyResize:
	default:
		return false
	}
	if err := json.Unmarshal(payload, &m); err != nil {
		r.h.c.Log.Warn("news of a terminal that can't be read", "project", r.p.ID, "error", err)
		return true
	}
	r.h.mu.Lock()
	s := r.link.screens[m.SessionRef]
	r.h.mu.Unlock()
	if s == nil {
		return true // the person has left
	}
	switch event {
	case action.EventPtyOpened:
		s.tell(TerminalNews{Opened: true})
	case action.EventPtyData:
		s.put(m.Data)
	case action.EventPtyClosed:
		s.there(TerminalNews{Closed: &TerminalExit{ExitCode: m.ExitCode, Signal: m.Signal}})
	case action.EventPtyError:
		if m.Failure == nil {
			m.Failure = failure.New(failure.TerminalUnavailable, "terminal").Because("%s", m.Message)
		}
		s.there(TerminalNews{Failure: m.Failure})
	}
	return true
}
