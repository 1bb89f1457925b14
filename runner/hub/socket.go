package hub

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
)

// topicPrefix stands in front of the project's id (protocol.md 3.4).
const topicPrefix = "terminal:"

// Reasons for which a join is refused, in the contract's own words (protocol.md 3.6).
const (
	refusedUnauthorized = "unauthorized"
	refusedSecond       = "já existe um runner conectado a este projeto"
	refusedCapability   = "este projeto exige a(s) capacidade(s) `exec`, que o brabo-runner conectado não declarou no join — " +
		"o binário está desatualizado. Atualize-o (`npm install -g @brabo/runner`) e rode de novo."
)

// runnerLink is the channel of a connected runner.
type runnerLink struct {
	ch         *channel.ServerChannel
	socketID   string
	credential string
	granted    action.Extensions
	pty        bool               // it opens terminals
	screens    map[string]*screen // of open terminals, by their sessionRef; guarded by the hub's mutex
}

// connect is the ticket check of a new socket. The ticket is used up only by the join.
func (h *Hub) connect(r *http.Request) (channel.Session, error) {
	text := r.URL.Query().Get("ticket")
	t, ok := h.tickets.check(text, time.Now())
	if !ok {
		return channel.Session{}, errors.New("the ticket is missing, unknown, expired or used")
	}
	return channel.Session{ID: socketID(t.project, t.credential), Value: text}, nil
}

// socketID names the sockets that a credential has opened for a project, so that they can be disconnected.
func socketID(project, credential string) string {
	return "runner_socket:" + project + ":" + credential
}

// join lets one runner a project in. The order of the checks is the contract's: topic, ticket, capabilities, second
// runner.
func (h *Hub) join(_ context.Context, ch *channel.ServerChannel, params json.RawMessage) (channel.Handler, any, error) {
	id, found := strings.CutPrefix(ch.Topic(), topicPrefix)
	text, _ := ch.Socket().Value().(string)
	t, usable := h.tickets.check(text, time.Now())
	if !found || !usable || !h.tickets.use(text, id, time.Now()) {
		return nil, nil, &channel.Refusal{Reason: refusedUnauthorized}
	}
	capabilities, declared := action.Declared(params)
	extensions := served(declared)
	if !slices.Contains(capabilities, "exec") {
		return nil, nil, &channel.Refusal{Reason: refusedCapability}
	}
	if h.c.RunnerJoins != nil {
		h.c.RunnerJoins()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.projects[id]
	switch {
	case p == nil || h.closed || !h.letsIn(t.credential):
		return nil, nil, &channel.Refusal{Reason: refusedUnauthorized}
	case p.runner != nil:
		return nil, nil, &channel.Refusal{Reason: refusedSecond}
	}
	p.runner = &runnerLink{ch: ch, socketID: ch.Socket().ID(), credential: t.credential, granted: extensions,
		pty: slices.Contains(capabilities, action.CapabilityPTY), screens: map[string]*screen{}}
	h.noteRunnerLocked(p, "joined", "")
	h.c.Log.Info("runner joined", "project", id, "extensions", extensions)
	h.resumeLocked(p)
	return &runnerHandler{h, p, p.runner}, action.JoinReply{Extensions: extensions}, nil
}

// served are those of the declared extensions that the hub makes use of.
func served(declared action.Extensions) action.Extensions {
	var known action.Extensions
	for _, x := range declared {
		switch x {
		case action.ExtAck, action.ExtDeadline, action.ExtDecision, action.ExtCancel, action.ExtOutput, action.ExtProgress, action.ExtAction, action.ExtPtyClosed:
			known = append(known, x)
		}
	}
	return known
}

// runnerHandler takes what a runner sends on its channel.
type runnerHandler struct {
	h    *Hub
	p    *project
	link *runnerLink
}

// Handle implements channel.Handler.
func (r *runnerHandler) Handle(_ context.Context, msg channel.Message) {
	switch msg.Event {
	case action.EventWorkspaceConfirm:
		var confirm action.WorkspaceConfirm
		if json.Unmarshal(msg.Payload, &confirm) == nil {
			r.h.confirmed(r.p, confirm.Path)
		}
	case action.EventExecResult:
		var res action.ExecResult
		if r.read(msg, &res) {
			status, out := executed(res)
			r.store(msg, res.Ref, status, out)
		}
	case action.EventContainerStartResult, action.EventContainerStopResult, action.EventContainerRemoveResult:
		var res action.ContainerResult
		if r.read(msg, &res) {
			status, out := contained(res)
			r.store(msg, res.Ref, status, out)
		}
	case action.EventActionResult:
		var res typedResult
		if r.read(msg, &res) {
			status, out := res.outcome()
			r.store(msg, res.Ref, status, out)
		}
	case action.EventExecOutput:
		var piece action.ExecOutput
		if json.Unmarshal(msg.Payload, &piece) == nil {
			r.h.outputTold(r.p.ID, piece)
		}
	case action.EventActionProgress: // but for these two a sign of life, which nothing is done with
		var told action.ActionProgress
		if json.Unmarshal(msg.Payload, &told) == nil {
			switch told.Stage {
			case action.StageHeld:
				r.h.heldTold(r.p.ID, told.Ref, true)
			case action.StageConfirmed:
				r.h.heldTold(r.p.ID, told.Ref, false)
			}
		}
	default:
		if r.terminal(msg.Event, msg.Payload) {
			return
		}
		r.h.c.Log.Warn("an event that the hub does not know", "project", r.p.ID, "event", printable(msg.Event))
	}
}

// read decodes a result; one that can't be read is answered and changes nothing.
func (r *runnerHandler) read(msg channel.Message, into any) bool {
	if err := json.Unmarshal(msg.Payload, into); err != nil {
		r.h.c.Log.Warn("a result that can't be read", "project", r.p.ID, "error", err)
		r.answer(msg, "error", map[string]string{"reason": "malformed"})
		return false
	}
	return true
}

// store keeps a result and says so. One that could not be kept is sent again after the next join.
func (r *runnerHandler) store(msg channel.Message, ref string, status Status, out *Outcome) {
	if err := r.h.result(r.p.ID, ref, status, out); err != nil {
		r.h.c.Log.Error("a result was not stored", "project", r.p.ID, "action", printable(ref), "error", err)
		r.answer(msg, "error", map[string]string{"reason": string(failure.From(err, "hub").Name)})
		return
	}
	r.answer(msg, "ok", struct{}{})
}

// answer acknowledges a result where that was agreed.
func (r *runnerHandler) answer(msg channel.Message, status string, response any) {
	if !r.link.granted.Has(action.ExtAck) {
		return
	}
	if err := r.link.ch.Reply(msg, status, response); err != nil {
		r.h.c.Log.Warn("a result was not acknowledged", "project", r.p.ID, "error", err)
	}
}

// Closed implements channel.Handler.
func (r *runnerHandler) Closed(err error) {
	r.h.mu.Lock()
	defer r.h.mu.Unlock()
	if r.p.runner != r.link {
		return
	}
	gone := failure.New(failure.RunnerGone, "project "+r.p.ID)
	if r.h.closed { // it is sent away
		gone = failure.New(failure.Draining, "hub")
	}
	for _, s := range r.link.screens {
		s.there(TerminalNews{Failure: gone})
	}
	r.p.runner, r.p.confirmed, r.p.lost = nil, "", time.Now()
	for _, o := range r.p.open {
		o.sent = false
	}
	r.h.noteRunnerLocked(r.p, "gone", r.link.credential)
	r.h.c.Log.Info("runner gone", "project", r.p.ID, "why", err)
}

// confirmed takes the folder that a runner has prepared (protocol.md 4.2).
func (h *Hub) confirmed(p *project, path string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := p.confirmed
	p.confirmed = path
	h.joins.ring()
	if before == path || h.closed {
		return
	}
	now := time.Now()
	err := h.commitLocked(func(tx store.Tx) error {
		row, err := projectRow(tx, p.ID)
		if err != nil || !row.Verified.IsZero() && row.Root == path {
			return err
		}
		row.Verified = now
		if err := tx.PutProject(row); err != nil {
			return err
		}
		return emit(tx, now, eventVerified, system, p.ID, "", payload{"mode": p.Mode})
	})
	if err != nil {
		h.c.Log.Warn("that a folder was confirmed is not stored", "project", p.ID, "error", err)
	}
}

// noteRunnerLocked puts a runner's coming and going into the log.
func (h *Hub) noteRunnerLocked(p *project, what, credential string) {
	if h.closed {
		return
	}
	if p.runner != nil {
		credential = p.runner.credential
	}
	now := time.Now()
	err := h.commitLocked(func(tx store.Tx) error {
		if err := tx.Contacted(credential, now); err != nil && !errors.Is(err, store.ErrNone) {
			return err
		}
		return emit(tx, now, eventRunner, system, p.ID, "", payload{"state": what, "daemonId": credential})
	})
	if err != nil {
		h.c.Log.Warn("a runner's coming or going is not stored", "project", p.ID, "error", err)
	}
}

// WaitRunner returns when a runner is joined to the project and has confirmed its folder, or with ctx's error.
func (h *Hub) WaitRunner(ctx context.Context, projectID string) error {
	for {
		changed := h.joins.heard()
		h.mu.Lock()
		p := h.projects[projectID]
		ready := p != nil && p.runner != nil && p.confirmed != ""
		h.mu.Unlock()
		if ready {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
