package hub

import (
	"time"

	"brabo.dev/runner/runner/hub/store"
)

// heldTold takes from a project's runner that an action waits for the person at its machine, or does not any more. The
// hub can only show it: the second lock opens there alone.
func (h *Hub) heldTold(projectID, ref string, held bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.running[ref]
	if r == nil || r.Project != projectID || r.held == held || h.closed {
		return
	}
	r.held = held
	kind := eventConfirmed
	if held {
		kind = eventHeld
	}
	now := time.Now()
	err := h.commitLocked(func(tx store.Tx) error {
		return emitFor(tx, now, kind, system, r.Action, payload{"actionType": r.Type, "confirmBy": "runner confirm"})
	})
	if err != nil {
		h.c.Log.Warn("that an action is held is not stored", "action", r.ID, "error", err)
	}
}

// stands adds to a what only the memory knows.
func (h *Hub) stands(a Action) Action {
	if a.Status.Final() {
		return a
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.running[a.ID]; r != nil {
		a.Held = r.held
	}
	return a
}
