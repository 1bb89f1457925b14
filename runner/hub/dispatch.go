package hub

import (
	"encoding/json"
	"slices"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
)

// resultSlack is how long after an action's deadline its result may still come: the runner answers by the deadline,
// and a connection that fell meanwhile needs time to come back.
const resultSlack = 60 * time.Second

// awayFor is how long a runner whose connection fell counts as coming back.
const awayFor = 60 * time.Second

// running is an action that was decided to run and has no outcome. The hub's mutex guards it.
type running struct {
	store.Action
	proposal Proposal
	env      map[string]string // what it came with; lost with the process
	sent     bool              // to the runner that is connected now
	everSent bool              // to any
	timer    *time.Timer       // ends it when no outcome came
	output   *tail             // of a command, as far as it was told
	held     bool              // the runner said that it waits for the person at its machine
}

// message is an action as the hub sends it: the fields of its kind (protocol.md 4) and of the extensions.
type message struct {
	Ref              string            `json:"ref"`
	Command          string            `json:"command,omitempty"`
	Cwd              *string           `json:"cwd,omitempty"`
	Env              map[string]string `json:"env,omitempty"`
	Spec             json.RawMessage   `json:"spec,omitempty"`
	WorkspaceDirName string            `json:"workspaceDirName,omitempty"`
	DeadlineMs       int64             `json:"deadlineMs,omitempty"`
	Decision         *action.Decision  `json:"decision,omitempty"`
}

// typedMessage is a typed action as the hub sends it (protocol.md section 12).
type typedMessage struct {
	Ref        string            `json:"ref"`
	Type       string            `json:"type"`
	Params     json.RawMessage   `json:"params"`
	Env        map[string]string `json:"env,omitempty"`
	DeadlineMs int64             `json:"deadlineMs,omitempty"`
	Decision   *action.Decision  `json:"decision,omitempty"`
}

// launchLocked has an action carried out that was just decided and stored.
func (h *Hub) launchLocked(row store.Action, p Proposal, env map[string]string) {
	r := &running{Action: row, proposal: p, env: env}
	h.running[row.ID] = r
	if row.Env && env == nil {
		h.endOrLogLocked(r, Failed, &Outcome{Failure: failure.New(failure.EnvironmentLost, "action "+row.ID)})
		return
	}
	h.startLocked(h.projects[row.Project], r)
}

// startLocked has a decided action carried out: by a runner, now if one is there, at its next join if one was there
// lately, else not at all; or by its proposer.
func (h *Hub) startLocked(p *project, r *running) {
	switch {
	case p == nil:
		h.endOrLogLocked(r, Failed, &Outcome{Failure: failure.New(failure.ProjectNotFound, "project "+r.Project)})
	case kindOf(r.Type) == byProposer:
		h.timerLocked(r, time.Until(r.Due), failure.NoOutcomeReported, "action "+r.ID)
	case p.runner == nil && (p.lost.IsZero() || time.Since(p.lost) > awayFor):
		h.endOrLogLocked(r, Failed, &Outcome{Failure: failure.New(failure.NoRunner, "project "+p.ID)})
	case r.Type == typeContainerStart && r.Message == nil:
		if known := p.Project; !h.closed { // it may be changed meanwhile
			h.work.Go(func() { h.prepare(known, r) })
		}
	default:
		h.queueLocked(p, r)
	}
}

// queueLocked puts an action behind the others that its project's runner executes.
func (h *Hub) queueLocked(p *project, r *running) {
	if r.output == nil {
		r.output = new(tail)
	}
	p.open = append(p.open, r)
	h.timerLocked(r, r.Deadline+resultSlack, failure.RunnerGone, "project "+r.Project)
	if p.runner != nil {
		h.sendLocked(p.runner, r)
	}
}

// timerLocked ends an action by name unless it has its outcome in time: a started action must end (policy.md section
// 12).
func (h *Hub) timerLocked(r *running, within time.Duration, name failure.Name, subject string) {
	if h.closed {
		return
	}
	h.timers.Add(1)
	r.timer = time.AfterFunc(within, func() {
		defer h.timers.Done()
		h.giveUp(r, failure.New(name, subject))
	})
}

// giveUp ends an action whose outcome did not come.
func (h *Hub) giveUp(r *running, why *failure.Failure) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.running[r.ID] == r && !h.closed {
		h.endOrLogLocked(r, Failed, &Outcome{Failure: why})
	}
}

// stopTimerLocked ends the wait for an outcome.
func (h *Hub) stopTimerLocked(r *running) {
	if r.timer != nil && r.timer.Stop() {
		h.timers.Done()
	}
	r.timer = nil
}

// sendLocked pushes an action to the runner. A push that fails is made up for at the next join.
func (h *Hub) sendLocked(l *runnerLink, r *running) {
	if kindOf(r.Type) == byTyped && !l.granted.Has(action.ExtAction) {
		h.endOrLogLocked(r, Failed, &Outcome{Failure: failure.New(failure.TypedActionsMissing, "project "+r.Project)})
		return
	}
	if !r.everSent {
		gone, err := h.outside(r.Action)
		if err != nil {
			h.c.Log.Error("an action is not sent, because its container can't be looked up", "action", r.ID, "error", err)
			return
		}
		if gone != nil {
			h.endOrLogLocked(r, Failed, &Outcome{Failure: gone})
			return
		}
		if err := h.store.Update(func(tx store.Tx) error { return tx.MarkSent(r.ID) }); err != nil {
			h.c.Log.Error("an action is not sent, because that can't be noted", "action", r.ID, "error", err)
			return
		}
	}
	r.sent, r.everSent = true, true
	event, payload := h.outgoing(l, r)
	if err := l.ch.Push(event, payload); err != nil {
		h.c.Log.Warn("an action was not sent; it is sent at the next join", "action", r.ID, "error", err)
	}
}

// outgoing is the message of an action, with the fields of the extensions that the runner knows.
func (h *Hub) outgoing(l *runnerLink, r *running) (event string, payload any) {
	m := message{Ref: r.ID, Env: r.env, Spec: r.Message}
	if l.granted.Has(action.ExtDeadline) {
		m.DeadlineMs = r.Deadline.Milliseconds()
	}
	if l.granted.Has(action.ExtDecision) {
		m.Decision = &action.Decision{Kind: "policy", Rule: r.Rule, At: r.Proposed}
		if r.DecidedBy != nil {
			m.Decision = &action.Decision{Kind: "human", By: *r.DecidedBy, Rule: r.Rule, At: r.Decided, Environment: boundEnvironment(r.Action)}
		}
	}
	switch kindOf(r.Type) {
	case byTyped:
		env := r.env
		if r.Type == action.TypeGitPush {
			env = h.gitEnvironment(h.projects[r.Project].Project, r.proposal, env)
		}
		return action.EventAction, typedMessage{r.ID, r.Type, objectOf(r.proposal.Params), env, m.DeadlineMs, m.Decision}
	case byContainer:
		m.Env = nil
		if r.Type != typeContainerStart {
			m.WorkspaceDirName = h.projects[r.Project].DirName
		}
		return r.Type, m
	}
	m.Command = r.proposal.Command
	if r.proposal.Cwd != "" {
		m.Cwd = &r.proposal.Cwd
	}
	return action.EventExec, m
}

// resumeLocked sends a runner that has just joined what has no result yet: everything if it acknowledges and so
// remembers what it received, else only what no runner has seen, since it would run twice. What came with an
// environment that is lost is not sent again either: a runner that has it answers, and another would run it without.
func (h *Hub) resumeLocked(p *project) {
	for _, r := range slices.Clone(p.open) {
		if !r.everSent || p.runner.granted.Has(action.ExtAck) && (!r.Env || r.env != nil) {
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

// typedResult is an action_result as a runner sends it.
type typedResult struct {
	Ref     string           `json:"ref"`
	OK      bool             `json:"ok"`
	Result  json.RawMessage  `json:"result"`
	Failure *failure.Failure `json:"failure"`
}

func (t typedResult) outcome() (Status, *Outcome) {
	out := &Outcome{Result: t.Result, Failure: t.Failure}
	if !t.OK {
		return Failed, out
	}
	return Executed, out
}

// result takes what a runner reports and returns once it is stored. What is unknown or was stored before is only
// logged, since the runner must not send it for ever.
func (h *Hub) result(projectID, ref string, status Status, out *Outcome) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.running[ref]
	if r == nil || r.Project != projectID || kindOf(r.Type) == byProposer {
		h.c.Log.Info("a result that nobody waits for", "project", projectID, "action", printable(ref))
		return nil
	}
	return h.endLocked(r, status, out)
}

// endOrLogLocked is endLocked where nobody can be told of an error.
func (h *Hub) endOrLogLocked(r *running, status Status, out *Outcome) {
	if err := h.endLocked(r, status, out); err != nil {
		h.c.Log.Error("the outcome of an action was not stored", "action", r.ID, "error", err)
	}
}

// endLocked stores the outcome of an action and tells who waits.
func (h *Hub) endLocked(r *running, status Status, out *Outcome) error {
	raw, err := json.Marshal(out)
	if err != nil {
		return err
	}
	now := time.Now()
	merged := mergedState(r.Type, status, out)
	err = h.commitLocked(func(tx store.Tx) error {
		if err := tx.End(r.ID, string(status), now, merged, raw); err != nil {
			return err
		}
		if err := emitEnded(tx, now, r.Action, status, out); err != nil {
			return err
		}
		if merged {
			if err := mergeEnded(tx, now, r.Action, r.proposal.known().TaskID); err != nil {
				return err
			}
		}
		if err := containerEnded(tx, now, r, status, out); err != nil {
			return err
		}
		return h.settleLocked(tx, now, r.Action, status)
	})
	if err != nil {
		return err
	}
	h.stopTimerLocked(r)
	delete(h.running, r.ID)
	if p := h.projects[r.Project]; p != nil {
		p.open = slices.DeleteFunc(p.open, func(o *running) bool { return o == r })
	}
	h.settledLocked(r.ID)
	return nil
}
