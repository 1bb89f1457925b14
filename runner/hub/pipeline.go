package hub

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/policy"
)

// Propose decides about p and, where the answer is yes, has it carried out. It returns as soon as the decision is
// made; Wait gives the outcome. It fails with BadRequest, ProjectNotFound, UnknownActionType,
// PermissionsFileInvalid, ModulesFileInvalid or ResourcesBelowMinimum, and then nothing was created.
func (h *Hub) Propose(p Proposal) (Action, error) {
	h.mu.Lock()
	project := h.projects[p.ProjectID]
	h.mu.Unlock()
	if project == nil {
		return Action{}, failure.New(failure.ProjectNotFound, "project "+printable(p.ProjectID))
	}
	deadline, err := h.checked(p)
	if err != nil {
		return Action{}, err
	}
	decision, err := h.c.Decider.Decide(project.Project, p)
	if err != nil {
		return Action{}, err
	}
	r := &record{
		Action: Action{
			ID: rand.Text(), ProjectID: p.ProjectID, Type: p.Type, Command: p.Command, Cwd: p.Cwd,
			Policy: decision.Policy, Rule: decision.Rule, Reason: decision.Reason, ProposedAt: time.Now(),
		},
		env: maps.Clone(p.Env), deadline: deadline, changed: make(chan struct{}),
	}
	if p.Type == typeContainerStart && decision.Policy != policy.Deny {
		// Before any decision about image or lifecycle (policy.md section 15).
		spec, err := specFor(project.Project, *p.Container)
		if err != nil {
			return Action{}, err
		}
		r.spec = &spec
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return Action{}, failure.New(failure.Draining, "hub")
	}
	h.actions[r.ID] = r
	switch decision.Policy {
	case policy.AutoApprove:
		r.Status = AutoApproved
		h.startLocked(project, r)
	case policy.RequireApproval:
		r.Status = Pending
	default:
		r.Status, r.RejectionReason = Denied, decision.Reason
	}
	return r.Action, nil
}

// checked judges the form of a proposal and gives its deadline.
func (h *Hub) checked(p Proposal) (time.Duration, error) {
	switch p.Type {
	case typeTerminal, typeContainerStop, typeContainerRemove:
	case typeContainerStart:
		if p.Container == nil || p.Container.Image == "" {
			return 0, failure.New(failure.BadRequest, "container.imagem").Because("a container_start names its image")
		}
	default:
		return 0, failure.New(failure.UnknownActionType, "type "+printable(p.Type)).
			Because("this hub carries out commands and container actions only")
	}
	if p.DeadlineMs == 0 {
		return h.c.ActionDeadline, nil
	}
	if p.DeadlineMs < action.MinDeadline.Milliseconds() || p.DeadlineMs > action.MaxDeadline.Milliseconds() {
		return 0, failure.New(failure.InvalidDeadline, "deadlineMs")
	}
	return time.Duration(p.DeadlineMs) * time.Millisecond, nil
}

// Approve lets a pending action run, by the decision of the person by. It fails with ActionNotFound, or with
// InvalidTransition when the action has left the queue.
func (h *Hub) Approve(id, by string) (Action, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r, err := h.pendingLocked(id)
	if err != nil {
		return Action{}, err
	}
	h.decideLocked(r, Approved, by)
	h.startLocked(h.projects[r.ProjectID], r)
	return r.Action, nil
}

// Deny refuses a pending action for reason, by the decision of the person by. It fails as Approve does.
func (h *Hub) Deny(id, by, reason string) (Action, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r, err := h.pendingLocked(id)
	if err != nil {
		return Action{}, err
	}
	r.RejectionReason = reason
	h.decideLocked(r, Denied, by)
	return r.Action, nil
}

func (h *Hub) decideLocked(r *record, status Status, by string) {
	now := time.Now()
	r.DecidedBy, r.DecidedAt = &by, &now
	r.to(status)
}

func (h *Hub) pendingLocked(id string) (*record, error) {
	r := h.actions[id]
	if r == nil {
		return nil, failure.New(failure.ActionNotFound, "action "+printable(id))
	}
	if r.Status != Pending {
		return nil, failure.New(failure.InvalidTransition, "action "+r.ID).Because("it is %s, not pending", r.Status)
	}
	return r, nil
}

// Get gives an action by its id, or ActionNotFound.
func (h *Hub) Get(id string) (Action, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.actions[id]; r != nil {
		return r.Action, nil
	}
	return Action{}, failure.New(failure.ActionNotFound, "action "+printable(id))
}

// List gives the actions in a status, oldest first; all of them for an empty status.
func (h *Hub) List(status Status) []Action {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := []Action{}
	for _, r := range h.actions {
		if status == "" || r.Status == status {
			all = append(all, r.Action)
		}
	}
	slices.SortFunc(all, func(a, b Action) int { return a.ProposedAt.Compare(b.ProposedAt) })
	return all
}

// Wait returns the action once it is denied, executed or failed. When ctx ends first it returns the action as it is
// then, with ctx's error.
func (h *Hub) Wait(ctx context.Context, id string) (Action, error) {
	for {
		h.mu.Lock()
		r := h.actions[id]
		if r == nil {
			h.mu.Unlock()
			return Action{}, failure.New(failure.ActionNotFound, "action "+printable(id))
		}
		now, changed := r.Action, r.changed
		h.mu.Unlock()
		if now.Status.final() {
			return now, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return now, fmt.Errorf("waiting for action %s, which is %s: %w", id, now.Status, ctx.Err())
		}
	}
}
