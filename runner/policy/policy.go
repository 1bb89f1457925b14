// Package policy decides what may run: permissions.json, the reading of shell text, and Decide.
//
// It is pure: no clock, no network, no disk beyond Load and Save. The rules are those of policy.md; where a comment
// names a section, it is a section of that document.
package policy

// Permissions are the three lists of a permissions.json, as written (section 1).
type Permissions struct {
	Allow []string `json:"allow"`
	Deny  []string `json:"deny"`
	Ask   []string `json:"ask"`
}

// Action is what was proposed. Only the fields of its type are looked at.
type Action struct {
	Type         string `json:"type"`
	Command      string `json:"command,omitempty"`       // terminal
	Cwd          string `json:"cwd,omitempty"`           // terminal; absolute, empty means the scope root
	Path         string `json:"path,omitempty"`          // write_file; relative means from the scope root
	TargetBranch string `json:"target_branch,omitempty"` // git_merge
}

// Role is a person's effective role in the project; empty means none.
type Role string

// Verdict is what becomes of a proposal.
type Verdict string

// The three verdicts.
const (
	AutoApprove     Verdict = "auto_approve"
	RequireApproval Verdict = "require_approval"
	Deny            Verdict = "deny"
)

// Autonomy is the row that was found for the agent; the zero value means none (section 7).
type Autonomy struct {
	Mode   Verdict `json:"mode,omitempty"`
	Origin string  `json:"origin,omitempty"` // "specific" (also when empty) or "wildcard"
}

// Context is what else the decision depends on.
type Context struct {
	ScopeRoot        string   `json:"scope_root,omitempty"` // absolute; empty means unknown
	AlsoInside       []string `json:"also_inside,omitempty"`
	ContainerRunning bool     `json:"container_running,omitempty"`
}

// Rule names the rule that decided: one of the closed list of section 7.
type Rule string

// Decision is the answer to a proposal.
type Decision struct {
	Policy Verdict `json:"policy"`
	Rule   Rule    `json:"rule"`
	Reason string  `json:"reason"` // one sentence for a person; never holds the scope root's absolute path
}
