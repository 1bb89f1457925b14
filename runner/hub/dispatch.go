package hub

import (
	"slices"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
)

// resultSlack is how long after an action's deadline its result may still come: the runner answers by the deadline,
// and a connection that fell meanwhile needs time to come back.
const resultSlack = 60 * time.Second

// awayFor is how long a runner whose connection fell counts as coming back.
const awayFor = 60 * time.Second

// The action types that the hub has carried out by a daemon (policy.md section 2).
const (
	typeTerminal        = "terminal"
	typeContainerStart  = action.EventContainerStart
	typeContainerStop   = action.EventContainerStop
	typeContainerRemove = action.EventContainerRemove
)

// message is an action as the hub sends it: the fields of its kind (protocol.md 4) and of the extensions.
type message struct {
	Ref              string            `json:"ref"`
	Command          string            `json:"command,omitempty"`
	Cwd              *string           `json:"cwd,omitempty"`
	Env              map[string]string `json:"env,omitempty"`
	Spec             *specMessage      `json:"spec,omitempty"`
	WorkspaceDirName string            `json:"workspaceDirName,omitempty"`
	DeadlineMs       int64             `json:"deadlineMs,omitempty"`
	Decision         *action.Decision  `json:"decision,omitempty"`
}

// startLocked has a decided action carried out: now if a runner is there, at its next join if one was there lately,
// else not at all.
func (h *Hub) startLocked(p *project, r *record) {
	if p.runner == nil && (p.lost.IsZero() || time.Since(p.lost) > awayFor) {
		h.endLocked(r, Failed, &Outcome{Failure: failure.New(failure.NoRunner, "project "+p.ID)})
		return
	}
	p.open = append(p.open, r)
	h.timers.Add(1)
	r.timer = time.AfterFunc(r.deadline+resultSlack, func() {
		defer h.timers.Done()
		h.giveUp(r)
	})
	if p.runner != nil {
		h.sendLocked(p.runner, r)
	}
}

// giveUp ends an action whose result did not come: a started action must end (policy.md section 12).
func (h *Hub) giveUp(r *record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !r.Status.final() {
		h.endLocked(r, Failed, &Outcome{Failure: failure.New(failure.RunnerGone, "project "+r.ProjectID)})
	}
}

// stopTimerLocked ends the wait for a result.
func (h *Hub) stopTimerLocked(r *record) {
	if r.timer != nil && r.timer.Stop() {
		h.timers.Done()
	}
	r.timer = nil
}

// sendLocked pushes an action to the runner. A push that fails is made up for at the next join.
func (h *Hub) sendLocked(l *runnerLink, r *record) {
	event, m := r.Type, message{Ref: r.ID, Env: r.env, Spec: r.spec}
	switch r.Type {
	case typeTerminal:
		event, m.Command = action.EventExec, r.Command
		if r.Cwd != "" {
			m.Cwd = &r.Cwd
		}
	case typeContainerStop, typeContainerRemove:
		m.WorkspaceDirName = r.ProjectID
	}
	if l.granted.Has(action.ExtDeadline) {
		m.DeadlineMs = r.deadline.Milliseconds()
	}
	if l.granted.Has(action.ExtDecision) {
		m.Decision = &action.Decision{Kind: "policy", Rule: string(r.Rule), At: r.ProposedAt}
		if r.DecidedBy != nil {
			m.Decision = &action.Decision{Kind: "human", By: *r.DecidedBy, Rule: string(r.Rule), At: *r.DecidedAt}
		}
	}
	r.sent, r.everSent = true, true
	if err := l.ch.Push(event, m); err != nil {
		h.c.Log.Warn("an action was not sent; it is sent at the next join", "action", r.ID, "error", err)
	}
}

// resumeLocked sends a runner that has just joined what has no result yet: everything if it acknowledges and so
// remembers what it received, else only what no runner has seen, since it would run twice.
func (h *Hub) resumeLocked(p *project) {
	for _, r := range p.open {
		if p.runner.granted.Has(action.ExtAck) || !r.everSent {
			h.sendLocked(p.runner, r)
		}
	}
}

// executed is what an exec_result says.
func executed(res action.ExecResult) (Status, *Outcome) {
	out := &Outcome{Output: res.Output, TimedOut: res.TimedOut, Failure: res.Failure}
	if res.ExitCode >= 0 {
		out.ExitCode = &res.ExitCode
	}
	if res.ExitCode != 0 {
		return Failed, out
	}
	return Executed, out
}

// contained is what the result of a container action says.
func contained(res action.ContainerResult) (Status, *Outcome) {
	out := &Outcome{Output: res.Erro, Failure: res.Failure, Container: res.Nome}
	out.AlreadyUp = res.JaEstavaDePe != nil && *res.JaEstavaDePe
	if !res.Sucesso {
		return Failed, out
	}
	return Executed, out
}

// result takes what a runner reports. It is stored once; what is unknown or was stored before is only logged, since
// the runner must not send it for ever.
func (h *Hub) result(projectID, ref string, status Status, out *Outcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.actions[ref]
	if r == nil || r.ProjectID != projectID || r.Status.final() {
		h.c.Log.Info("a result that nobody waits for", "project", projectID, "action", printable(ref))
		return
	}
	h.endLocked(r, status, out)
}

// endLocked gives an action its outcome.
func (h *Hub) endLocked(r *record, status Status, out *Outcome) {
	h.stopTimerLocked(r)
	if p := h.projects[r.ProjectID]; p != nil {
		p.open = slices.DeleteFunc(p.open, func(o *record) bool { return o == r })
	}
	now := time.Now()
	r.Outcome, r.EndedAt, r.env = out, &now, nil
	r.to(status)
}

// Cancel asks the runner to end an action that was decided and has no outcome. It fails with ActionNotFound or
// InvalidTransition, or with NoRunner when nobody is there to ask or the runner can't cancel.
func (h *Hub) Cancel(id, reason string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.actions[id]
	switch {
	case r == nil:
		return failure.New(failure.ActionNotFound, "action "+printable(id))
	case r.Status != Approved && r.Status != AutoApproved:
		return failure.New(failure.InvalidTransition, "action "+id).Because("it is %s and does not run", r.Status)
	}
	l := h.projects[r.ProjectID].runner
	if l == nil || !l.granted.Has(action.ExtCancel) {
		return failure.New(failure.NoRunner, "project "+r.ProjectID).Because("no runner that can cancel is connected")
	}
	return l.ch.Push(action.EventExecCancel, map[string]string{"ref": id, "reason": reason})
}
