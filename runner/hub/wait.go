package hub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
)

// watch is who waits for an action.
type watch struct {
	changed bell
	waiting int
	// left: somebody waited and went away, so that nobody would hear of the outcome.
	left bool
}

func (h *Hub) watchLocked(id string) *watch {
	w := h.watches[id]
	if w == nil {
		w = new(watch)
		h.watches[id] = w
	}
	return w
}

// Wait returns the action once it is denied, executed or failed. When ctx ends first it returns the action as it is
// then, with ctx's error; with context.Canceled the waiter counts as gone, and the log will say so.
func (h *Hub) Wait(ctx context.Context, id string) (Action, error) {
	return h.follow(ctx, id, func(Action) error { return nil })
}

// follow is Wait that has each state of the action shown, the one that it returns included. An error of show ends it.
func (h *Hub) follow(ctx context.Context, id string, show func(Action) error) (Action, error) {
	h.mu.Lock()
	w := h.watchLocked(id)
	w.waiting++
	w.left = false
	h.mu.Unlock()
	shown := Status("")
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		w.waiting--
		// Who has heard of the end may go.
		if w.waiting == 0 && !shown.Final() && errors.Is(ctx.Err(), context.Canceled) {
			w.left = true
		}
		if w.waiting == 0 && !w.left && h.watches[id] == w {
			delete(h.watches, id)
		}
	}()
	for {
		heard := w.changed.heard()
		now, err := h.Get(id)
		if err == nil && now.Status != shown {
			shown, err = now.Status, show(now)
		}
		if err != nil || now.Status.Final() {
			return now, err
		}
		select {
		case <-heard:
		case <-h.stop:
			return now, failure.New(failure.Draining, "hub")
		case <-ctx.Done():
			return now, fmt.Errorf("waiting for action %s, which is %s: %w", id, now.Status, ctx.Err())
		}
	}
}

// settleLocked tells who waits for an action that it has ended; where the waiter is gone, the log says so.
func (h *Hub) settleLocked(tx store.Tx, at time.Time, row store.Action, status Status) error {
	w := h.watches[row.ID]
	if w == nil || !w.left || w.waiting > 0 {
		return nil
	}
	return emitFor(tx, at, eventWaiterGone, system, row, payload{"agentId": row.Proposer, "status": status})
}

// settledLocked wakes the waiters once the end of an action is stored.
func (h *Hub) settledLocked(id string) {
	if w := h.watches[id]; w != nil {
		w.changed.ring()
		if w.waiting == 0 {
			delete(h.watches, id)
		}
	}
}

// Rhythm of a waiter's WebSocket: how often it is looked whether the waiter is still there, how long that may take to
// show, how long one message may take, and how long the other side may take to close when the hub stops.
const (
	waiterPing    = 15 * time.Second
	waiterSilence = 45 * time.Second
	waiterWrite   = 10 * time.Second
	waiterHurry   = time.Second
)

// getWait is a WebSocket on which a waiter is told an action, as it is and at each change, until it has ended. A waiter
// that goes away counts as gone, as one of a long poll does.
func (h *Hub) getWait(w http.ResponseWriter, r *http.Request, who Principal) {
	id := r.PathValue("id")
	err := h.mine(who, id)
	if err == nil {
		_, err = h.row(id)
	}
	if err == nil && !websocket.IsWebSocketUpgrade(r) {
		err = failure.New(failure.BadRequest, "wait").Because("this is a WebSocket; without one there is GET /actions/{id}?wait=SECONDS")
	}
	if err == nil {
		err = h.admit()
	}
	if err != nil {
		writeError(w, err)
		return
	}
	defer h.work.Done()
	upgrader := websocket.Upgrader{CheckOrigin: h.originAllowed, HandshakeTimeout: waiterWrite}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // it has been answered
	}
	defer ws.Close()
	ctx, gone := context.WithCancel(context.Background())
	defer gone()
	h.work.Go(func() {
		defer gone()
		hearNothing(ws)
	})
	h.work.Go(func() { pingUntil(ctx, ws) })
	_, err = h.follow(ctx, id, func(a Action) error {
		// Who asked may have been removed since.
		if p, known, err := h.who(r); err != nil || !known || h.mine(p, id) != nil {
			gone()
			return noSuchAction(id)
		}
		err := errors.Join(ws.SetWriteDeadline(time.Now().Add(waiterWrite)), ws.WriteJSON(a))
		if err != nil {
			gone()
		}
		return err
	})
	code, patience := websocket.CloseNormalClosure, waiterWrite
	if failure.Is(err, failure.Draining) {
		code, patience = websocket.CloseGoingAway, waiterHurry // the waiter asks again by the id
	}
	// An error here means that nobody is left to be told. The other side closes, once it has read the last word.
	_ = ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(waiterWrite))
	over := time.NewTimer(patience)
	defer over.Stop()
	stopped := h.stop
	if patience == waiterHurry {
		stopped = nil // it is why this one is told to go
	}
	select {
	case <-ctx.Done():
	case <-over.C:
	case <-stopped:
	}
}

// admit counts one more connection that Close waits for, unless the hub is closed.
func (h *Hub) admit() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return failure.New(failure.Draining, "hub")
	}
	h.work.Add(1)
	return nil
}

// hearNothing reads, and throws away, until the other side is gone or silent for too long.
func hearNothing(ws *websocket.Conn) {
	ws.SetReadLimit(1 << 10)
	alive := func(string) error { return ws.SetReadDeadline(time.Now().Add(waiterSilence)) }
	ws.SetPongHandler(alive)
	for err := alive(""); err == nil; {
		_, _, err = ws.ReadMessage()
	}
}

// pingUntil asks the other side for a sign of life until ctx ends.
func pingUntil(ctx context.Context, ws *websocket.Conn) {
	tick := time.NewTicker(waiterPing)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(waiterWrite)) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
