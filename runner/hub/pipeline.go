package hub

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// The action types that the hub knows more about than the policy does.
const (
	typeTerminal        = "terminal"
	typeContainerStart  = action.EventContainerStart
	typeContainerStop   = action.EventContainerStop
	typeContainerRemove = action.EventContainerRemove
	typeGitMerge        = "git_merge"
)

// kind says how an action is carried out.
type kind int

const (
	byProposer  kind = iota // whoever proposed it does it, and reports
	byCommand               // a daemon, as exec
	byContainer             // a daemon, as one of the container messages
	byTyped                 // a daemon, as a typed action
)

func kindOf(actionType string) kind {
	switch actionType {
	case typeTerminal:
		return byCommand
	case typeContainerStart, typeContainerStop, typeContainerRemove:
		return byContainer
	case action.TypeWriteFile, action.TypeGitCommit, action.TypeGitBranchCreate, action.TypeGitPush:
		return byTyped
	}
	return byProposer
}

// Propose is ProposeAs by the agent of the configuration.
func (h *Hub) Propose(p Proposal) (Action, error) { return h.ProposeAs(h.local(), p) }

// ProposeAs decides about what who proposes and, where the answer is yes, has it carried out. It returns as soon as the
// decision is made; Wait gives the outcome. When it fails, nothing was created: BadRequest, ProjectNotFound,
// UnknownActionType, InvalidDeadline, PermissionsFileInvalid, AlreadyMerged, MergeAlreadyProposed, NoContainerService,
// or the failure of a root that is none.
func (h *Hub) ProposeAs(who Principal, p Proposal) (Action, error) {
	h.mu.Lock()
	project := h.projects[p.ProjectID]
	var known Project
	if project != nil {
		known = project.Project
	}
	h.mu.Unlock()
	if project == nil || who.Project != "" && who.Project != p.ProjectID {
		return Action{}, failure.New(failure.ProjectNotFound, "project "+printable(p.ProjectID))
	}
	deadline, err := h.checked(p)
	if err != nil {
		return Action{}, err
	}
	decision, place, err := h.decision(known, who, p)
	if err != nil {
		return Action{}, err
	}
	row := store.Action{
		ID: rand.Text(), Project: p.ProjectID, Type: p.Type, ProposerKind: who.Kind, Proposer: who.ID, Session: who.Session,
		Status: string(policy.Born(decision.Policy)), Policy: string(decision.Policy), Rule: string(decision.Rule), Reason: decision.Reason,
		Env: len(p.Env) > 0, Deadline: deadline, Proposed: time.Now(),
	}
	if p.Type == typeGitMerge {
		row.PullRequest = policy.PullRequestID(p.known().PullRequestID)
	}
	if Status(row.Status) == AutoApproved && kindOf(p.Type) == byProposer {
		row.Due = row.Proposed.Add(h.c.OutcomeDeadline)
	}
	if Status(row.Status) == Denied {
		row.Rejection, row.Env = decision.Reason, false
	}
	return h.create(row, place, p)
}

// decision decides, by the rules or by what stands in their place.
func (h *Hub) decision(known Project, who Principal, p Proposal) (policy.Decision, Place, error) {
	if h.c.Decider != nil {
		d, err := h.c.Decider.Decide(known, p)
		return d, Place{Relative: string(known.Mode) + ":" + known.DirName}, err
	}
	q, err := h.ask(known, who, p)
	if err != nil {
		return policy.Decision{}, Place{}, err
	}
	d, err := q.decide()
	return d, q.place, err
}

// create stores a proposal with its first event, and starts it where nobody has to be asked.
func (h *Hub) create(row store.Action, place Place, p Proposal) (Action, error) {
	env := maps.Clone(p.Env)
	p.Env = nil
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return Action{}, failure.New(failure.Draining, "hub")
	}
	err := h.commitLocked(func(tx store.Tx) error {
		if err := refuseMerge(tx, row.Project, row.PullRequest, ""); err != nil {
			return err
		}
		environment, err := environmentOf(tx, row)
		if err != nil {
			return err
		}
		if row.Proposal, err = keep(p, place, environment); err != nil {
			return err
		}
		if kindOf(row.Type) == byContainer {
			if err := containerService(tx, h.projects[row.Project], row.Project); err != nil {
				return err
			}
		}
		if row.Seq, err = tx.AddAction(row); err != nil {
			return fmt.Errorf("keeping the proposal: %w", err)
		}
		if err := emitCreated(tx, row, place, environment); err != nil || Status(row.Status) != Denied {
			return err
		}
		return emitPRSettled(tx, row.Proposed, row, Denied)
	})
	if err != nil {
		return Action{}, err
	}
	switch {
	case Status(row.Status) == AutoApproved:
		h.launchLocked(row, p, env)
	case Status(row.Status) == Pending && row.Env:
		h.envs[row.ID] = env
	}
	return actionOf(row)
}

// containerService refuses a container action where no daemon is paired that could carry it out (policy.md section 11).
// A project of mode runner has its daemon or fails later.
func containerService(tx store.Tx, p *project, id string) error {
	if p == nil || p.Mode == ModeRunner {
		return nil
	}
	daemons, err := tx.Daemons()
	if err != nil {
		return err
	}
	for _, d := range daemons {
		if d.Revoked.IsZero() && (d.Project == "" || d.Project == id) {
			return nil
		}
	}
	return failure.New(failure.NoContainerService, "project "+id)
}

// checked judges the form of a proposal and gives its deadline.
func (h *Hub) checked(p Proposal) (time.Duration, error) {
	if minimumRole(p.Type) == "" {
		return 0, failure.New(failure.UnknownActionType, "type "+printable(p.Type))
	}
	bad := func(field, format string, args ...any) (time.Duration, error) {
		return 0, failure.New(failure.BadRequest, field).Because(format, args...)
	}
	if raw := bytes.TrimSpace(p.Params); len(raw) > 0 && raw[0] != '{' {
		return bad("params", "it is no object")
	}
	switch kindOf(p.Type) {
	case byCommand:
		if p.Command == "" {
			return bad("command", "a terminal action has a command")
		}
	case byContainer:
		if p.Type == typeContainerStart && (p.Container == nil || p.Container.Image == "") {
			return bad("container.imagem", "a container_start names its image")
		}
	case byTyped:
		// What the daemon would refuse is better refused now.
		raw, err := json.Marshal(typedMessage{Ref: "proposal", Type: p.Type, Params: objectOf(p.Params)})
		if err != nil {
			return 0, fmt.Errorf("reading params: %w", err)
		}
		if _, fail := action.DecodeAction(raw, nil); fail != nil {
			return bad("params", "%s", fail.Cause)
		}
	}
	if p.DeadlineMs == 0 {
		return h.c.ActionDeadline, nil
	}
	if p.DeadlineMs < action.MinDeadline.Milliseconds() || p.DeadlineMs > action.MaxDeadline.Milliseconds() {
		return 0, failure.New(failure.InvalidDeadline, "deadlineMs")
	}
	return time.Duration(p.DeadlineMs) * time.Millisecond, nil
}

// objectOf is an object also where there is nothing.
func objectOf(raw json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 {
		return json.RawMessage(`{}`)
	}
	return raw
}

// Get gives an action by its id, or ActionNotFound.
func (h *Hub) Get(id string) (Action, error) {
	row, err := h.row(id)
	if err != nil {
		return Action{}, err
	}
	a, err := actionOf(row)
	return h.stands(a), err
}

func (h *Hub) row(id string) (row store.Action, err error) {
	err = h.store.View(func(tx store.Tx) error {
		row, err = tx.Action(id)
		return err
	})
	return row, missing(err, failure.ActionNotFound, "action "+printable(id))
}

// maxList bounds what one list holds.
const maxList = 1000

// List gives the last actions in a status, oldest first; of all of them for an empty status.
func (h *Hub) List(status Status) []Action {
	actions, err := h.list(store.Filter{Status: string(status), Limit: maxList})
	if err != nil {
		h.c.Log.Error("the actions can't be listed", "error", err)
	}
	for i, j := 0, len(actions)-1; i < j; i, j = i+1, j-1 {
		actions[i], actions[j] = actions[j], actions[i]
	}
	return actions
}

// list gives actions, the newest first.
func (h *Hub) list(f store.Filter) ([]Action, error) {
	var rows []store.Action
	err := h.store.View(func(tx store.Tx) (err error) {
		rows, err = tx.Actions(f)
		return err
	})
	actions := make([]Action, 0, len(rows))
	for _, row := range rows {
		a, one := actionOf(row)
		actions, err = append(actions, h.stands(a)), errors.Join(err, one)
	}
	return actions, err
}
