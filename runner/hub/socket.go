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
	ch       *channel.ServerChannel
	socketID string
	granted  action.Extensions
}

// connect is the ticket check of a new socket. The ticket is used up only by the join.
func (h *Hub) connect(r *http.Request) (channel.Session, error) {
	text := r.URL.Query().Get("ticket")
	t, ok := h.tickets.check(text, time.Now())
	if !ok {
		return channel.Session{}, errors.New("the ticket is missing, unknown, expired or used")
	}
	return channel.Session{ID: "runner_socket:" + t.project + ":" + t.credential, Value: text}, nil
}

// join lets one runner a project in. The order of the checks is the contract's: topic, ticket, capabilities, second
// runner.
func (h *Hub) join(_ context.Context, ch *channel.ServerChannel, params json.RawMessage) (channel.Handler, any, error) {
	id, found := strings.CutPrefix(ch.Topic(), topicPrefix)
	text, _ := ch.Socket().Value().(string)
	if !found || !h.tickets.use(text, id, time.Now()) {
		return nil, nil, &channel.Refusal{Reason: refusedUnauthorized}
	}
	capabilities, declared := action.Declared(params)
	extensions := served(declared)
	if !slices.Contains(capabilities, "exec") {
		return nil, nil, &channel.Refusal{Reason: refusedCapability}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.projects[id]
	switch {
	case p == nil || h.closed:
		return nil, nil, &channel.Refusal{Reason: refusedUnauthorized}
	case p.runner != nil:
		return nil, nil, &channel.Refusal{Reason: refusedSecond}
	}
	p.runner = &runnerLink{ch, ch.Socket().ID(), extensions}
	h.c.Log.Info("runner joined", "project", id, "extensions", extensions)
	h.resumeLocked(p)
	return &runnerHandler{h, p, p.runner}, action.JoinReply{Extensions: extensions}, nil
}

// served are those of the declared extensions that the hub makes use of.
func served(declared action.Extensions) action.Extensions {
	var known action.Extensions
	for _, x := range declared {
		switch x {
		case action.ExtAck, action.ExtDeadline, action.ExtDecision, action.ExtCancel:
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
			r.h.mu.Lock()
			r.p.confirmed = confirm.Path
			r.h.joinedLocked()
			r.h.mu.Unlock()
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
	default:
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

// store keeps a result and says so.
func (r *runnerHandler) store(msg channel.Message, ref string, status Status, out *Outcome) {
	r.h.result(r.p.ID, ref, status, out)
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
	r.p.runner, r.p.confirmed, r.p.lost = nil, "", time.Now()
	for _, o := range r.p.open {
		o.sent = false
	}
	r.h.c.Log.Info("runner gone", "project", r.p.ID, "why", err)
}

// WaitRunner returns when a runner is joined to the project and has confirmed its folder, or with ctx's error.
func (h *Hub) WaitRunner(ctx context.Context, projectID string) error {
	for {
		h.mu.Lock()
		p := h.projects[projectID]
		ready := p != nil && p.runner != nil && p.confirmed != ""
		changed := h.joins
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

// joinedLocked tells who waits that a runner came or confirmed its folder.
func (h *Hub) joinedLocked() {
	close(h.joins)
	h.joins = make(chan struct{})
}
