package hub

import (
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/policy"
)

// Status is the state of an action (policy.md section 12).
type Status string

// The states of an action.
const (
	Pending      Status = "pending"
	Approved     Status = "approved"
	Denied       Status = "denied"
	AutoApproved Status = "auto_approved"
	Executed     Status = "executed"
	Failed       Status = "failed"
)

// final reports whether nothing follows.
func (s Status) final() bool { return s == Denied || s == Executed || s == Failed }

// Proposal is what an agent asks for.
type Proposal struct {
	ProjectID string `json:"projectId"`
	Type      string `json:"type"`
	Command   string `json:"command,omitempty"`
	Cwd       string `json:"cwd,omitempty"` // absolute; empty: the project's folder
	// Container is what a container_start asks for.
	Container *ContainerSpec `json:"container,omitempty"`
	// Env travels to the command and nowhere else: it is not part of what is stored, shown or logged.
	Env map[string]string `json:"env,omitempty"`
	// DeadlineMs bounds the execution; zero: the hub's default.
	DeadlineMs int64 `json:"deadlineMs,omitempty"`
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
}

// Action is a proposal and what became of it.
type Action struct {
	ID        string         `json:"id"`
	ProjectID string         `json:"projectId"`
	Type      string         `json:"type"`
	Command   string         `json:"command,omitempty"`
	Cwd       string         `json:"cwd,omitempty"`
	Status    Status         `json:"status"`
	Policy    policy.Verdict `json:"resolvedPolicy"`
	Rule      policy.Rule    `json:"rule"`
	Reason    string         `json:"reason"`
	// DecidedBy is null where no person decided.
	DecidedBy       *string    `json:"decidedBy"`
	RejectionReason string     `json:"rejectionReason,omitempty"`
	ProposedAt      time.Time  `json:"proposedAt"`
	DecidedAt       *time.Time `json:"decidedAt,omitempty"`
	EndedAt         *time.Time `json:"endedAt,omitempty"`
	Outcome         *Outcome   `json:"outcome,omitempty"`
}

// record is an Action with what is needed to carry it out. The hub's mutex guards it.
type record struct {
	Action
	env      map[string]string
	spec     *specMessage // of a container_start
	deadline time.Duration
	sent     bool          // to the runner that is connected now
	everSent bool          // to any
	timer    *time.Timer   // gives up waiting for the runner
	changed  chan struct{} // closed and replaced at each change of the status
}

func (r *record) to(status Status) {
	r.Status = status
	close(r.changed)
	r.changed = make(chan struct{})
}
