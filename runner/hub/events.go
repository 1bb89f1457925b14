package hub

import (
	"encoding/json"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// The events of policy.md sections 13, 14 and 16, and some of ours.
const (
	eventCreated    = "proposed_action.created"
	eventApproved   = "proposed_action.approved"
	eventDenied     = "proposed_action.denied"
	eventGranted    = "permission.granted"
	eventExecuted   = "action.executed"
	eventFailed     = "action.failed"
	eventSettled    = "task.action_settled"
	eventPRSettled  = "task.pr_settled"
	eventTaskStatus = "backlog.task_status_changed"

	eventCancelAsked = "action.cancel_requested" // ours, as all that follow
	eventWaiterGone  = "proposed_action.waiter_gone"
	eventProject     = "project.changed"
	eventAutonomy    = "autonomy.changed"
	eventAgent       = "agent.changed"
	eventMember      = "member.changed"
	eventDaemon      = "daemon.changed"
	eventBrowser     = "browser.changed"
	eventCredential  = "git_credential.changed"
	eventRunner      = "runner.changed"
	eventVerified    = "project.workspace_verified"
	eventHeld        = "action.held" // the second lock of the runner's machine
	eventConfirmed   = "action.confirmed"
	eventTermOpened  = "terminal.opened"
	eventTermEnded   = "terminal.ended"
)

// Event is one step in the log.
type Event struct {
	Seq     int64           `json:"seq"`
	At      time.Time       `json:"at"`
	Type    string          `json:"type"`
	Actor   Actor           `json:"actor"`
	Project string          `json:"project"`
	Session string          `json:"session,omitempty"`
	Payload json.RawMessage `json:"payload"`
}

func eventOf(row store.Event) Event {
	return Event{row.Seq, row.At, row.Type, Actor{row.ActorKind, row.Actor}, row.Project, row.Session, row.Payload}
}

// payload is an event's own fields.
type payload map[string]any

// system is the hub itself.
var system = Actor{kindSystem, "hub"}

// emit appends an event to the log.
func emit(tx store.Tx, at time.Time, kind string, by Actor, project, session string, p payload) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return tx.AddEvent(store.Event{At: at, Type: kind, ActorKind: by.Kind, Actor: by.ID, Project: project, Session: session, Payload: raw})
}

// emitFor appends an event about an action.
func emitFor(tx store.Tx, at time.Time, kind string, by Actor, row store.Action, p payload) error {
	p["actionId"] = row.ID
	return emit(tx, at, kind, by, row.Project, row.Session, p)
}

// emitCreated is the first event of an action.
func emitCreated(tx store.Tx, row store.Action, place Place, environment string) error {
	p := payload{"actionType": row.Type, "status": row.Status, "resolvedPolicy": row.Policy, "reason": row.Reason, "rule": row.Rule}
	if row.Type == typeTerminal {
		p["scopeRoot"] = place.Relative
		if environment != "" {
			p["environment"] = environment
		}
	}
	return emitFor(tx, row.Proposed, eventCreated, Actor{row.ProposerKind, row.Proposer}, row, p)
}

// emitEnded says how an action ended, and wakes who was suspended for it (policy.md sections 14 and 16).
func emitEnded(tx store.Tx, at time.Time, row store.Action, status Status, out *Outcome) error {
	kind, p := eventExecuted, payload{"actionType": row.Type}
	if status == Failed {
		kind = eventFailed
	}
	if row.Type == typeTerminal {
		p["exitCode"], p["timedOut"], p["rawBytes"] = out.ExitCode, out.TimedOut, len(out.Output)
	}
	if out.Container != "" {
		p["container"], p["alreadyUp"] = out.Container, out.AlreadyUp
	}
	if out.Failure != nil {
		p["failure"] = out.Failure
	}
	if len(out.Result) > 0 {
		var fields map[string]any
		if json.Unmarshal(out.Result, &fields) == nil {
			for name, value := range fields {
				if _, taken := p[name]; !taken {
					p[name] = value
				}
			}
		}
	}
	if err := emitFor(tx, at, kind, system, row, p); err != nil {
		return err
	}
	if row.DecidedBy != nil {
		settled := payload{"projectId": row.Project, "sessionId": row.Session, "agentId": row.Proposer, "actionType": row.Type, "status": status, "executionResult": p}
		if err := emitFor(tx, at, eventSettled, system, row, settled); err != nil {
			return err
		}
	}
	return emitPRSettled(tx, at, row, status)
}

// emitRefused says that a person refused.
func emitRefused(tx store.Tx, at time.Time, row store.Action, by Actor, reason string) error {
	p := payload{"actionType": row.Type, "from": row.Status, "reason": nil}
	if reason != "" {
		p["reason"] = reason
	}
	if err := emitFor(tx, at, eventDenied, by, row, p); err != nil {
		return err
	}
	settled := payload{"projectId": row.Project, "sessionId": row.Session, "agentId": row.Proposer, "actionType": row.Type, "status": Denied, "rejectionReason": reason}
	if err := emitFor(tx, at, eventSettled, system, row, settled); err != nil {
		return err
	}
	return emitPRSettled(tx, at, row, Denied)
}

// emitPRSettled settles the task of a module agent whose pull request was decided (policy.md section 16).
func emitPRSettled(tx store.Tx, at time.Time, row store.Action, status Status) error {
	if row.Type != "pr_open" || row.ProposerKind != kindAgent || !moduleAgent(row.Proposer) {
		return nil
	}
	return emitFor(tx, at, eventPRSettled, system, row, payload{"agentId": row.Proposer, "opened": status == Executed})
}

// mergeEnded sets the task done that a merge names, once for each pull request (policy.md section 13).
func mergeEnded(tx store.Tx, at time.Time, row store.Action, task string) error {
	if task == "" {
		return nil
	}
	if row.PullRequest != "" {
		news, err := tx.AddMerged(row.Project, row.PullRequest, row.ID)
		if err != nil || !news {
			return err
		}
	}
	if err := tx.PutTask(row.Project, task, "done", at); err != nil {
		return err
	}
	return emitFor(tx, at, eventTaskStatus, system, row, payload{"taskId": task, "status": "done", "pullRequestId": row.PullRequest})
}

// mergedState reports whether a merge's result says that it was merged.
func mergedState(kind string, status Status, out *Outcome) bool {
	if kind != typeGitMerge || status != Executed {
		return false
	}
	var result struct {
		State string `json:"state"`
	}
	return json.Unmarshal(out.Result, &result) == nil && result.State == "merged"
}

// Events lists events, the oldest first: those behind f.Since, or the last ones where f.Last is set.
func (h *Hub) Events(f store.EventFilter) ([]Event, error) {
	events := []Event{}
	err := h.store.View(func(tx store.Tx) error {
		rows, err := tx.Events(f)
		for _, row := range rows {
			events = append(events, eventOf(row))
		}
		return err
	})
	return events, err
}

// refuseMerge applies policy.md section 13. self is empty for a merge that is being proposed.
func refuseMerge(tx store.Tx, project, pullRequest, self string) error {
	if pullRequest == "" {
		return nil
	}
	rows, err := tx.Merges(project, pullRequest)
	if err != nil {
		return err
	}
	var merges []policy.Merge
	for _, row := range rows {
		merges = append(merges, policy.Merge{ID: row.ID, PullRequest: row.PullRequest, State: Status(row.Status), Merged: row.Merged})
	}
	return policy.RefuseMerge(pullRequest, self, merges)
}

// noSuchAction is the failure of an unknown id.
func noSuchAction(id string) *failure.Failure {
	return failure.New(failure.ActionNotFound, "action "+printable(id))
}
