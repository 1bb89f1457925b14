package action

import (
	"encoding/json"
	"time"

	"brabo.dev/runner/runner/failure"
)

// Events of the typed actions (protocol.md section 12, action).
const (
	EventAction       = "action"
	EventActionResult = "action_result"
)

// The types of a typed action.
const (
	TypeWriteFile       = "write_file"
	TypeGitCommit       = "git_commit"
	TypeGitBranchCreate = "git_branch_create"
	TypeGitPush         = "git_push"
)

// MaxContent is the most that a write_file may write, in bytes.
const MaxContent = 4 << 20

// Typed is one approved typed action. Exactly one of the parameter fields is set, that of its Type.
type Typed struct {
	Ref, Type string
	WriteFile *WriteFile
	Commit    *GitCommit
	Branch    *GitBranchCreate
	Push      *GitPush
	// Env is a git credential. Its values are secrets: never logged, never stored.
	Env      map[string]string
	Deadline time.Duration // from receipt; zero where the server sent none
	Decision *Decision     // nil where the server does not say
}

// Cwd is where the action works, absolute as sent; empty for the project root.
func (t Typed) Cwd() string {
	switch {
	case t.Commit != nil:
		return t.Commit.Cwd
	case t.Branch != nil:
		return t.Branch.Cwd
	case t.Push != nil:
		return t.Push.Cwd
	}
	return ""
}

// DecodeAction reads an action. As with DecodeExec the Ref is set if it could be read; a type that is not known is an
// UnknownActionType.
func DecodeAction(raw json.RawMessage, granted Extensions) (Typed, *failure.Failure) {
	const event = EventAction
	f, fail := object(event, raw)
	if fail != nil {
		return Typed{}, fail
	}
	var t Typed
	if t.Ref, fail = f.ref(event); fail != nil {
		return t, fail
	}
	if t.Type, fail = f.text(event, "type"); fail != nil {
		return t, fail
	}
	if t.Env, fail = f.env(event); fail != nil {
		return t, fail
	}
	if t.Deadline, t.Decision, fail = f.terms(event, granted); fail != nil {
		return t, fail
	}
	params, there := f["params"]
	if !there {
		return t, malformed(event, "`params` is missing")
	}
	p, fail := object(event, params)
	if fail != nil {
		return t, malformed(event, "`params` is not an object")
	}
	return t, t.read(p)
}

// read decodes the parameters of the type.
func (t *Typed) read(p fields) (fail *failure.Failure) {
	const event = EventAction
	switch t.Type {
	case TypeWriteFile:
		t.WriteFile, fail = p.writeFile(event)
	case TypeGitCommit:
		t.Commit, fail = p.commit(event)
	case TypeGitBranchCreate:
		t.Branch, fail = p.branch(event)
	case TypeGitPush:
		t.Push, fail = p.push(event)
	default:
		fail = failure.New(failure.UnknownActionType, event+" "+t.Ref).Because("this version does not know the type %q", t.Type)
	}
	return fail
}

// ActionResult answers a Typed. Result is one of the four result types.
type ActionResult struct {
	Ref     string           `json:"ref"`
	OK      bool             `json:"ok"`
	Result  any              `json:"result,omitempty"`
	Failure *failure.Failure `json:"failure,omitempty"`
}

// ActionFailed answers a typed action that did not do what it should.
func ActionFailed(ref string, fail *failure.Failure) ActionResult {
	return ActionResult{Ref: ref, Failure: fail}
}
