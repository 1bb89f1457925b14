package store

import (
	"database/sql"
	"strings"
	"time"
)

// Action is one row of the actions.
type Action struct {
	Seq                    int64 // given by AddAction, in the order of the proposals
	ID, Project, Type      string
	ProposerKind, Proposer string // "agent" or "person", and its id
	Session                string
	Status                 string // policy.md section 12
	Policy, Rule, Reason   string
	Proposal               []byte        // JSON of what was proposed
	PullRequest            string        // of a git_merge; empty: none is named
	Env                    bool          // it came with an environment, which is not kept
	Deadline               time.Duration // of its execution
	Due                    time.Time     // when an outcome that its proposer reports is too late; zero: never
	Sent                   bool          // to a daemon, at any time
	Message                []byte        // what a daemon is sent beside the proposal, so that it is sent alike again
	DecidedBy              *string
	Decided                time.Time
	Rejection              string
	Proposed, Ended        time.Time
	Merged                 bool   // it is a git_merge whose outcome is `merged`
	Outcome                []byte // JSON; nil while there is none
}

const actionColumns = `SELECT seq, id, project, type, proposer_kind, proposer, session, status, policy, rule, reason, proposal,
	pull_request, env, deadline, due, sent, message, decided_by, decided, rejection, proposed, ended, merged, outcome FROM action`

func readAction(row scanner) (a Action, err error) {
	var due, decided, proposed, ended sql.NullInt64
	var pr sql.NullString
	err = row.Scan(&a.Seq, &a.ID, &a.Project, &a.Type, &a.ProposerKind, &a.Proposer, &a.Session, &a.Status, &a.Policy, &a.Rule, &a.Reason,
		&a.Proposal, &pr, &a.Env, &a.Deadline, &due, &a.Sent, &a.Message, &a.DecidedBy, &decided, &a.Rejection, &proposed, &ended, &a.Merged, &a.Outcome)
	a.PullRequest = pr.String
	a.Due, a.Decided, a.Proposed, a.Ended = moment(due), moment(decided), moment(proposed), moment(ended)
	return a, err
}

// AddAction adds an action and gives its Seq.
func (t Tx) AddAction(a Action) (seq int64, err error) {
	result, err := t.exec(`INSERT INTO action (id, project, type, proposer_kind, proposer, session, status, policy, rule, reason, proposal,
		pull_request, env, deadline, due, sent, decided_by, decided, rejection, proposed, ended, merged, outcome)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		a.ID, a.Project, a.Type, a.ProposerKind, a.Proposer, a.Session, a.Status, a.Policy, a.Rule, a.Reason, a.Proposal,
		sql.NullString{String: a.PullRequest, Valid: a.PullRequest != ""}, a.Env, int64(a.Deadline), micros(a.Due), a.Sent, a.DecidedBy,
		micros(a.Decided), a.Rejection, micros(a.Proposed), micros(a.Ended), a.Merged, a.Outcome)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// Decide moves an action from one status to another, by a person. ErrNone: it is not in that status.
func (t Tx) Decide(id, from, to, by, rejection string, at, due time.Time) error {
	return t.change("UPDATE action SET status = ?, decided_by = ?, decided = ?, rejection = ?, due = ? WHERE id = ? AND status = ?",
		to, by, micros(at), rejection, micros(due), id, from)
}

// End gives an action that is under way its outcome. ErrNone: it has one, or is not under way.
func (t Tx) End(id, status string, at time.Time, merged bool, outcome []byte) error {
	return t.change("UPDATE action SET status = ?, ended = ?, merged = ?, outcome = ? WHERE id = ? AND status IN ('approved', 'auto_approved')",
		status, micros(at), merged, outcome, id)
}

// MarkSent notes that an action was sent to a daemon.
func (t Tx) MarkSent(id string) error { return t.change("UPDATE action SET sent = 1 WHERE id = ?", id) }

// SetProposal replaces what is kept of what was proposed.
func (t Tx) SetProposal(id string, proposal []byte) error {
	return t.change("UPDATE action SET proposal = ? WHERE id = ?", proposal, id)
}

// SetMessage keeps what a daemon is sent beside the proposal.
func (t Tx) SetMessage(id string, message []byte) error {
	return t.change("UPDATE action SET message = ? WHERE id = ?", message, id)
}

// Action finds an action.
func (t Tx) Action(id string) (Action, error) {
	return one(t, readAction, actionColumns+" WHERE id = ?", id)
}

// OpenActions lists what was decided to run and has no outcome, in the order of the decisions.
func (t Tx) OpenActions() ([]Action, error) {
	return all(t, readAction, actionColumns+" WHERE status IN ('approved', 'auto_approved') ORDER BY coalesce(decided, proposed), seq")
}

// Merges lists the merges of a pull request that were proposed in a project.
func (t Tx) Merges(project, pullRequest string) ([]Action, error) {
	return all(t, readAction, actionColumns+" WHERE project = ? AND pull_request = ? ORDER BY seq", project, pullRequest)
}

// Filter narrows a list. Empty fields don't.
type Filter struct {
	Status, Project, Type string
	Agent                 string // the id of an agent
	Decided               string // DecidedByPerson or DecidedByRules
	Before                int64  // only those with a lower Seq
	Limit                 int    // at most so many
}

// Who decided an action.
const (
	DecidedByPerson = "person"
	DecidedByRules  = "rules"
)

// Actions lists actions, the newest first.
func (t Tx) Actions(f Filter) ([]Action, error) {
	where := []string{"seq < ?"}
	args := []any{f.Before}
	if f.Before <= 0 {
		where[0], args = "seq > ?", []any{0}
	}
	add := func(condition, value string) {
		if value != "" {
			where, args = append(where, condition), append(args, value)
		}
	}
	add("status = ?", f.Status)
	add("project = ?", f.Project)
	add("type = ?", f.Type)
	add("proposer_kind = 'agent' AND proposer = ?", f.Agent)
	switch f.Decided {
	case DecidedByPerson:
		where = append(where, "decided_by IS NOT NULL")
	case DecidedByRules:
		where = append(where, "decided_by IS NULL AND status <> 'pending'")
	}
	return all(t, readAction, actionColumns+" WHERE "+strings.Join(where, " AND ")+" ORDER BY seq DESC LIMIT ?", append(args, f.Limit)...)
}

// PendingCount counts what waits for a person.
func (t Tx) PendingCount() (int, error) {
	return one(t, func(row scanner) (n int, err error) {
		err = row.Scan(&n)
		return n, err
	}, "SELECT count(*) FROM action WHERE status = 'pending'")
}
