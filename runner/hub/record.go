package hub

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// Status is the state of an action (policy.md section 12).
type Status = policy.State

// The states of an action.
const (
	Pending      = policy.Pending
	Approved     = policy.Approved
	Denied       = policy.Denied
	AutoApproved = policy.AutoApproved
	Executed     = policy.Executed
	Failed       = policy.Failed
)

// Proposal is what an agent asks for.
type Proposal struct {
	ProjectID string `json:"projectId"`
	Type      string `json:"type"`
	Command   string `json:"command,omitempty"`
	Cwd       string `json:"cwd,omitempty"` // absolute; empty: the project's folder
	// Params are those of the types that are no command and no container: for what a daemon executes as in protocol.md
	// section 12, for the others as their proposer likes, an object in any case. A git_merge has `pullRequestId`,
	// `targetBranch` and `taskId`.
	Params json.RawMessage `json:"params,omitempty"`
	// Container is what a container_start asks for.
	Container *ContainerSpec `json:"container,omitempty"`
	// Env travels to the command and nowhere else: it is not part of what is stored, shown or logged.
	Env map[string]string `json:"env,omitempty"`
	// DeadlineMs bounds the execution; zero: the hub's default.
	DeadlineMs int64 `json:"deadlineMs,omitempty"`
}

// params are the members of Params that the hub itself looks at.
type params struct {
	Path          string          `json:"path"`
	Remote        string          `json:"remote"`
	TargetBranch  string          `json:"targetBranch"`
	PullRequestID json.RawMessage `json:"pullRequestId"`
	TaskID        string          `json:"taskId"`
}

// known reads the members that the hub looks at; of a value of another kind nothing is known.
func (p Proposal) known() (known params) {
	// checked has refused what is no object; members of the wrong type stay empty, which is the careful reading.
	_ = json.Unmarshal(p.Params, &known)
	return known
}

// action is the proposal as the policy sees it.
func (p Proposal) action() policy.Action {
	known := p.known()
	return policy.Action{Type: p.Type, Command: p.Command, Cwd: p.Cwd, Path: known.Path, TargetBranch: known.TargetBranch}
}

// Outcome is how the execution of an action ended.
type Outcome struct {
	ExitCode *int             `json:"exitCode"` // null: there is no real code
	Output   string           `json:"output"`
	TimedOut bool             `json:"timedOut"`
	Failure  *failure.Failure `json:"failure,omitempty"`
	// Container is the container's name after a container_start, and AlreadyUp whether it ran before.
	Container string `json:"container,omitempty"`
	AlreadyUp bool   `json:"alreadyUp,omitempty"`
	// Result is what a typed action answered, or what its proposer reported.
	Result json.RawMessage `json:"result,omitempty"`
	*TerminalResult
}

// TerminalResult are the fields of a command's result (policy.md section 15). A daemon gives both streams as one.
type TerminalResult struct {
	Stdout           string `json:"stdout"`
	Stderr           string `json:"stderr"`
	RawBytes         int    `json:"rawBytes"`
	RawTokens        int    `json:"estimatedTokensRaw"`
	CompressedBytes  *int   `json:"compressedBytes"`
	CompressedTokens *int   `json:"estimatedTokensCompressed"`
}

// bytesPerToken is the usual rough estimate.
const bytesPerToken = 4

// ofTerminal adds the fields of a command's result.
func (o *Outcome) ofTerminal() {
	n := len(o.Output)
	o.TerminalResult = &TerminalResult{Stdout: o.Output, RawBytes: n, RawTokens: (n + bytesPerToken - 1) / bytesPerToken}
}

// Actor is who did something: an agent, a person, or the hub itself as `system`.
type Actor struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
}

// The kinds of actors.
const (
	kindAgent  = "agent"
	kindPerson = "person"
	kindSystem = "system"
)

// Action is a proposal and what became of it.
type Action struct {
	ID         string          `json:"id"`
	ProjectID  string          `json:"projectId"`
	Type       string          `json:"type"`
	Command    string          `json:"command,omitempty"`
	Cwd        string          `json:"cwd,omitempty"`
	Params     json.RawMessage `json:"params,omitempty"`
	Container  *ContainerSpec  `json:"container,omitempty"`
	DeadlineMs int64           `json:"deadlineMs"`
	ProposedBy Actor           `json:"proposedBy"`
	Session    string          `json:"session,omitempty"`
	Status     Status          `json:"status"`
	Policy     policy.Verdict  `json:"resolvedPolicy"`
	Rule       policy.Rule     `json:"rule"`
	Reason     string          `json:"reason"`
	// ScopeRoot is the scope that a command was decided in, without its path; empty where that was not recorded.
	ScopeRoot string `json:"scopeRoot,omitempty"`
	// Environment is `container` for a command that was decided for the inside of its project's container, where alone it
	// may run; else empty.
	Environment string `json:"environment,omitempty"`
	// DecidedBy is null where no person decided.
	DecidedBy       *string    `json:"decidedBy"`
	RejectionReason string     `json:"rejectionReason,omitempty"`
	ProposedAt      time.Time  `json:"proposedAt"`
	DecidedAt       *time.Time `json:"decidedAt,omitempty"`
	EndedAt         *time.Time `json:"endedAt,omitempty"`
	// DueAt is when an outcome that the proposer has to report is too late.
	DueAt   *time.Time `json:"dueAt,omitempty"`
	Outcome *Outcome   `json:"outcome,omitempty"`
	// Held: the runner has it, and waits for the person at its machine, who allows it there with `runner confirm`; nobody
	// can from here.
	Held bool `json:"heldAtMachine,omitempty"`
	// Cursor is the action's place in the order of the proposals, for `before`.
	Cursor int64 `json:"cursor"`
}

// actionOf is the row as it is shown.
func actionOf(row store.Action) (Action, error) {
	var p kept
	if err := json.Unmarshal(row.Proposal, &p); err != nil {
		return Action{}, fmt.Errorf("reading the proposal of action %s: %w", row.ID, err)
	}
	a := Action{
		ID: row.ID, ProjectID: row.Project, Type: row.Type, Command: p.Command, Cwd: p.Cwd, Params: p.Params, Container: p.Container,
		DeadlineMs: row.Deadline.Milliseconds(), ProposedBy: Actor{row.ProposerKind, row.Proposer}, Session: row.Session,
		Status: Status(row.Status), Policy: policy.Verdict(row.Policy), Rule: policy.Rule(row.Rule), Reason: row.Reason, ScopeRoot: p.ScopeRoot, Environment: p.Environment,
		DecidedBy: row.DecidedBy, RejectionReason: row.Rejection, ProposedAt: row.Proposed,
		DecidedAt: present(row.Decided), EndedAt: present(row.Ended), Cursor: row.Seq,
	}
	if !a.Status.Final() {
		a.DueAt = present(row.Due)
	}
	if row.Outcome != nil {
		a.Outcome = new(Outcome)
		if err := json.Unmarshal(row.Outcome, a.Outcome); err != nil {
			return Action{}, fmt.Errorf("reading the outcome of action %s: %w", row.ID, err)
		}
		if row.Type == typeTerminal {
			a.Outcome.ofTerminal()
		}
	}
	return a, nil
}

// kept is a proposal as it lies in the store, with the scope that it was decided in and where it is to run.
type kept struct {
	Proposal
	ScopeRoot   string `json:"scopeRoot,omitempty"`
	Environment string `json:"environment,omitempty"`
}

// keep is what of a proposal is stored: all but the variables that it came with.
func keep(p Proposal, place Place, environment string) (json.RawMessage, error) {
	p.Env = nil
	k := kept{Proposal: p, Environment: environment}
	if p.Type == typeTerminal {
		k.ScopeRoot = place.Relative
	}
	raw, err := json.Marshal(k)
	if err != nil {
		return nil, fmt.Errorf("keeping the proposal: %w", err)
	}
	return raw, nil
}

// proposalOf is what was proposed, without its environment.
func proposalOf(row store.Action) (p Proposal, err error) {
	if err := json.Unmarshal(row.Proposal, &p); err != nil {
		return p, fmt.Errorf("reading the proposal of action %s: %w", row.ID, err)
	}
	return p, nil
}

func present(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// moduleAgent reports whether an agent's id is `dev-<module>`: of these autonomy is remembered, not patterns
// (policy.md section 11).
func moduleAgent(id string) bool {
	module, found := strings.CutPrefix(id, "dev-")
	return found && module != "" && id != "dev-lead"
}
