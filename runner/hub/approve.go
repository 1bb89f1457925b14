package hub

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// Approve lets a pending action run, by the decision of the person by. It fails with ActionNotFound, Forbidden where
// the person's role is below the type's minimum, AlreadyMerged or MergeAlreadyProposed, or with InvalidTransition when
// the action has left the queue.
func (h *Hub) Approve(id, by string) (Action, error) {
	row, who, err := h.decider(id, by)
	if err != nil {
		return Action{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	err = h.commitDurablyLocked(func(tx store.Tx) error {
		if row, err = tx.Action(id); err != nil {
			return err
		}
		if _, err := policy.Advance(id, Status(row.Status), Approved); err != nil {
			return err
		}
		row, err = h.approved(tx, row, who)
		return err
	})
	if err != nil {
		return Action{}, err
	}
	return h.goOnLocked(row)
}

// decider finds the action and the person who wants to decide about it, and checks that person's role.
func (h *Hub) decider(id, by string) (row store.Action, who Principal, err error) {
	if row, err = h.row(id); err != nil {
		return row, who, err
	}
	if who, err = h.person(by); err != nil {
		return row, who, err
	}
	if least := minimumRole(row.Type); !who.Role.AtLeast(least) {
		return row, who, forbidden("action "+id, "a %s is decided by a %s or above", row.Type, least)
	}
	return row, who, nil
}

// approved moves a pending action on, with its event.
func (h *Hub) approved(tx store.Tx, row store.Action, who Principal) (store.Action, error) {
	if h.closed {
		return row, failure.New(failure.Draining, "hub")
	}
	if err := refuseMerge(tx, row.Project, row.PullRequest, row.ID); err != nil {
		return row, err
	}
	from := row.Status
	row.Status, row.DecidedBy, row.Decided = string(Approved), &who.ID, time.Now()
	if kindOf(row.Type) == byProposer {
		row.Due = row.Decided.Add(h.c.OutcomeDeadline)
	}
	if err := tx.Decide(row.ID, from, row.Status, who.ID, "", row.Decided, row.Due); err != nil {
		return row, err
	}
	row, err := bindEnvironment(tx, row)
	if err != nil {
		return row, err
	}
	return row, emitFor(tx, row.Decided, eventApproved, who.actor(), row, payload{"actionType": row.Type, "from": from})
}

// goOnLocked has an action carried out whose approval is stored.
func (h *Hub) goOnLocked(row store.Action) (Action, error) {
	p, err := proposalOf(row)
	if err != nil {
		return Action{}, err
	}
	env := h.envs[row.ID]
	delete(h.envs, row.ID)
	h.launchLocked(row, p, env)
	if w := h.watches[row.ID]; w != nil {
		w.changed.ring()
	}
	return actionOf(row)
}

// Deny refuses a pending action for reason, by the decision of the person by. It fails as Approve does.
func (h *Hub) Deny(id, by, reason string) (Action, error) {
	row, who, err := h.decider(id, by)
	if err != nil {
		return Action{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	err = h.commitDurablyLocked(func(tx store.Tx) error {
		if row, err = tx.Action(id); err != nil {
			return err
		}
		if _, err := policy.Advance(id, Status(row.Status), Denied); err != nil {
			return err
		}
		now := time.Now()
		if err := tx.Decide(id, row.Status, string(Denied), who.ID, reason, now, time.Time{}); err != nil {
			return err
		}
		if err := emitRefused(tx, now, row, who.actor(), reason); err != nil {
			return err
		}
		row.Status, row.DecidedBy, row.Decided, row.Rejection = string(Denied), &who.ID, now, reason
		return h.settleLocked(tx, now, row, Denied)
	})
	if err != nil {
		return Action{}, err
	}
	delete(h.envs, id)
	h.settledLocked(id)
	return actionOf(row)
}

// Always is the answer to "always allow" (policy.md section 11).
type Always struct {
	Outcome    policy.Outcome `json:"desfecho"`
	Written    bool           `json:"padraoGravado"`
	Patterns   []string       `json:"patterns,omitempty"`
	Autonomy   *Autonomy      `json:"autonomy,omitempty"`
	AskEntries []string       `json:"askEntries,omitempty"` // these go on asking
	Action     Action         `json:"action"`
}

// AlwaysAllow approves one pending action and remembers it, in one transaction, by the decision of the person by, who is
// a maintainer or above. For one that was approved before it only remembers. It fails with AlwaysAllowRefused,
// ActionDenied, PermissionsFileInvalid, PermissionsFileNotWritten, and as Approve does; then nothing has changed.
func (h *Hub) AlwaysAllow(id, by string) (Always, error) {
	row, who, err := h.decider(id, by)
	if err != nil {
		return Always{}, err
	}
	if !who.Role.AtLeast(policy.Maintainer) {
		return Always{}, forbidden("action "+id, "what is always allowed is decided by a maintainer or above")
	}
	p, known, err := h.projectNow(row.Project)
	if err != nil {
		return Always{}, err
	}
	p.rules.Lock()
	defer p.rules.Unlock()
	memory, err := h.remembers(known, row)
	if err != nil {
		return Always{}, err
	}
	if memory.Refused {
		return Always{}, failure.New(failure.AlwaysAllowRefused, row.Type)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	answer := Always{AskEntries: memory.AskEntries}
	err = h.commitDurablyLocked(func(tx store.Tx) error {
		if row, err = tx.Action(id); err != nil {
			return err
		}
		if answer.Outcome, err = policy.AnswerAlways(id, Status(row.Status)); err != nil {
			return err
		}
		if answer.Outcome == policy.OutcomeApproved {
			if row, err = h.approved(tx, row, who); err != nil {
				return err
			}
		}
		return remember(tx, row, who, memory, &answer)
	})
	if err != nil {
		return Always{}, err
	}
	if answer.Outcome == policy.OutcomeApproved {
		answer.Action, err = h.goOnLocked(row)
	} else {
		answer.Action, err = actionOf(row)
	}
	return answer, err
}

// memory is what "always allow" of one action would write.
type memory struct {
	policy.Remembered
	autonomy *Autonomy // in place of patterns, for module agents
	file     string
}

// remembers says what "always allow" would write for an action.
func (h *Hub) remembers(p Project, row store.Action) (memory, error) {
	proposed, err := proposalOf(row)
	if err != nil {
		return memory{}, err
	}
	if policy.NeverRemembered(row.Type) {
		return memory{Remembered: policy.Remembered{Refused: true}}, nil
	}
	place, err := h.place(p)
	if err != nil {
		return memory{}, err
	}
	file, err := policy.Load(place.File)
	if err != nil {
		return memory{}, err
	}
	m := memory{file: place.File}
	m.Remembered = policy.Remember(proposed.action(), file.Permissions, policy.Context{ScopeRoot: place.Root, AlsoInside: p.AlsoInside})
	if row.ProposerKind == kindAgent && moduleAgent(row.Proposer) && !m.Refused {
		m.autonomy = &Autonomy{Agent: row.Proposer, ActionType: row.Type, Mode: policy.AutoApprove}
		m.Patterns, m.AskEntries = nil, nil
	}
	return m, nil
}

// remember writes what is missing, and its event if something was.
func remember(tx store.Tx, row store.Action, who Principal, m memory, answer *Always) error {
	granted := payload{"actionType": row.Type}
	if m.autonomy != nil {
		rows, err := tx.AutonomyFor(row.Project, m.autonomy.Agent, m.autonomy.ActionType)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if r.Agent == m.autonomy.Agent && r.Type == m.autonomy.ActionType && r.Mode == string(policy.AutoApprove) {
				return nil
			}
		}
		if err := tx.PutAutonomy(row.Project, m.autonomy.row()); err != nil {
			return err
		}
		answer.Autonomy = m.autonomy
		granted["agentId"] = m.autonomy.Agent
	} else {
		if len(m.Patterns) == 0 {
			return nil
		}
		if err := os.MkdirAll(filepath.Dir(m.file), 0o700); err != nil {
			return failure.New(failure.PermissionsFileNotWritten, m.file).Wrap(err)
		}
		added, err := policy.AddAllow(m.file, m.Patterns...)
		if err != nil || len(added) == 0 {
			return err
		}
		answer.Patterns = added
		granted["patterns"], granted["pattern"] = added, joined(added)
	}
	answer.Written = true
	return emitFor(tx, time.Now(), eventGranted, who.actor(), row, granted)
}

// Cancel is CancelBy the person of the configuration.
func (h *Hub) Cancel(id, reason string) error {
	return h.CancelBy(Actor{kindPerson, h.c.Person}, id, reason)
}

// CancelBy ends an action that was decided and has no outcome: a runner that has it is asked, and answers with the
// ordinary result; else it ends at once. It fails with ActionNotFound or InvalidTransition, or with NoRunner when nobody
// is there to ask or the runner can't cancel.
func (h *Hub) CancelBy(by Actor, id, reason string) error {
	row, err := h.row(id)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.running[id]
	if r == nil {
		return failure.New(failure.InvalidTransition, "action "+id).Because("it is %s and does not run", row.Status)
	}
	asked := func(tx store.Tx) error {
		return emitFor(tx, time.Now(), eventCancelAsked, by, r.Action, payload{"reason": reason})
	}
	if kindOf(r.Type) == byProposer || !r.everSent {
		if err := h.commitLocked(asked); err != nil {
			return err
		}
		return h.endLocked(r, Failed, &Outcome{Failure: failure.New(failure.Cancelled, "action "+id).Because("%s %s", by.Kind, by.ID)})
	}
	l := h.projects[r.Project].runner
	if l == nil || !l.granted.Has(action.ExtCancel) || kindOf(r.Type) == byContainer {
		return failure.New(failure.NoRunner, "project "+r.Project).Because("no runner that can cancel this is connected")
	}
	if err := h.commitLocked(asked); err != nil {
		return err
	}
	return l.ch.Push(action.EventExecCancel, map[string]string{"ref": id, "reason": reason})
}

// Report is what the proposer of an action says about its outcome.
type Report struct {
	OK      bool             `json:"ok"`
	Result  any              `json:"result,omitempty"`
	Failure *failure.Failure `json:"failure,omitempty"`
}

// ReportOutcome ends an approved action that its proposer carries out. It fails with ActionNotFound, Forbidden for
// anybody else, or InvalidTransition when the action is not under way or is one that a daemon executes.
func (h *Hub) ReportOutcome(who Principal, id string, status Status, out *Outcome) (Action, error) {
	row, err := h.row(id)
	if err != nil {
		return Action{}, err
	}
	if row.ProposerKind != who.Kind || row.Proposer != who.ID {
		return Action{}, forbidden("action "+id, "its outcome is reported by who proposed it")
	}
	h.mu.Lock()
	r := h.running[id]
	switch {
	case r == nil:
		err = failure.New(failure.InvalidTransition, "action "+id).Because("it is %s, and no outcome is awaited", row.Status)
	case kindOf(r.Type) != byProposer:
		err = failure.New(failure.InvalidTransition, "action "+id).Because("a daemon executes it and reports its outcome")
	default:
		err = h.endLocked(r, status, out)
	}
	h.mu.Unlock()
	if err != nil && !errors.Is(err, store.ErrNone) {
		return Action{}, err
	}
	return h.Get(id)
}
