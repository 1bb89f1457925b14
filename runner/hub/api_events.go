package hub

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// maxEvents bounds what one list of events holds.
const maxEvents = 5000

// getEvents lists the events behind `since`, or the last ones where that is not given.
func (h *Hub) getEvents(w http.ResponseWriter, r *http.Request, _ Principal) {
	q := r.URL.Query()
	since, err := number(r, "since", 0, math.MaxInt64)
	limit, err2 := number(r, "limit", usualPage, maxEvents)
	if err == nil {
		err = err2
	}
	if err != nil {
		writeError(w, err)
		return
	}
	events, err := h.Events(store.EventFilter{Type: q.Get("type"), Project: q.Get("project"), Since: since, Limit: int(limit), Last: !q.Has("since")})
	answer(w, http.StatusOK, map[string]any{"events": events}, err)
}

// Decisions counts the approvals in the log, which are either people's or the policy's.
type Decisions struct {
	ByPeople int `json:"byPeople"`
	ByPolicy int `json:"byPolicy"`
}

// getDecisions counts the approvals in the log.
func (h *Hub) getDecisions(w http.ResponseWriter, r *http.Request, _ Principal) {
	var counts store.Counts
	err := h.store.View(func(tx store.Tx) (err error) {
		counts, err = tx.CountDecisions(r.URL.Query().Get("project"))
		return err
	})
	answer(w, http.StatusOK, Decisions(counts), err)
}

// Rhythm of a stream: news are put together for so long, and a line comes at least so often, so that a dead
// connection is noticed.
const (
	streamPause = 50 * time.Millisecond
	streamAlive = 15 * time.Second
	streamBatch = 500
)

// getStream sends each event from `since` on, or from Last-Event-ID, or else from now on, and the output of running
// actions, as server-sent events.
func (h *Hub) getStream(w http.ResponseWriter, r *http.Request, _ Principal) {
	last, err := h.streamFrom(r)
	if err != nil {
		writeError(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	control := http.NewResponseController(w)
	// The line at once tells the client that it is connected; the events before it are not awaited.
	if _, err := fmt.Fprint(w, "retry: 2000\n: connected\n\n"); err != nil || control.Flush() != nil {
		return
	}
	seen := map[string]int64{}
	alive := time.NewTicker(streamAlive)
	defer alive.Stop()
	for {
		heard := h.news.heard()
		// Who signed out or was removed since hears nothing any more.
		if who, known, err := h.who(r); err != nil || !known || !person(policy.Viewer)(who) {
			return
		}
		more, err := h.streamNews(w, &last, seen)
		if err != nil || control.Flush() != nil {
			return
		}
		if more {
			continue
		}
		select {
		case <-heard:
			pause := time.NewTimer(streamPause)
			select {
			case <-pause.C:
			case <-r.Context().Done():
				pause.Stop()
				return
			}
		case <-alive.C:
			if _, err := fmt.Fprint(w, ": alive\n\n"); err != nil || control.Flush() != nil {
				return
			}
		case <-h.stop:
			return
		case <-r.Context().Done():
			return
		}
		if h.stopped() {
			return
		}
	}
}

func (h *Hub) stopped() bool {
	select {
	case <-h.stop:
		return true
	default:
		return false
	}
}

// streamFrom is the event behind which a stream begins.
func (h *Hub) streamFrom(r *http.Request) (int64, error) {
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil || n < 0 {
			return 0, failure.New(failure.BadRequest, "Last-Event-ID").Because("it is no event's number")
		}
		return n, nil
	}
	if r.URL.Query().Has("since") {
		return number(r, "since", 0, math.MaxInt64)
	}
	var last int64
	err := h.store.View(func(tx store.Tx) (err error) {
		last, err = tx.LastEvent()
		return err
	})
	return last, err
}

// streamNews writes what is new, and reports whether there may be more at once.
func (h *Hub) streamNews(w http.ResponseWriter, last *int64, seen map[string]int64) (more bool, err error) {
	events, err := h.Events(store.EventFilter{Since: *last, Limit: streamBatch})
	if err != nil {
		return false, err
	}
	for _, e := range events {
		raw, err := json.Marshal(e)
		if err != nil {
			return false, err
		}
		if _, err := fmt.Fprintf(w, "id: %d\ndata: %s\n\n", e.Seq, raw); err != nil {
			return false, err
		}
		*last = e.Seq
	}
	for _, o := range h.outputsSince(seen) {
		raw, err := json.Marshal(o)
		if err != nil {
			return false, err
		}
		if _, err := fmt.Fprintf(w, "event: output\ndata: %s\n\n", raw); err != nil {
			return false, err
		}
	}
	return len(events) == streamBatch, nil
}
