package runner

import (
	"path/filepath"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/policy"
)

// denied applies the deny rules once more: the built-in ones always, those of the project's permissions.json unless
// the command is the engine's own git work (protocol.md section 12, last paragraph). A deny binds whoever decided.
func (s *session) denied(e action.Exec) *failure.Failure {
	fileBinds := e.Decision != nil || e.Cwd != "" && !e.GitCredentialed
	return s.deniedAction(policy.Action{Type: "terminal", Command: e.Command, Cwd: e.Cwd}, e.Ref, fileBinds)
}

// deniedAction applies the deny rules to any action; those of the project's file only where they bind.
func (s *session) deniedAction(a policy.Action, ref string, fileBinds bool) *failure.Failure {
	var p policy.Permissions
	if fileBinds {
		file, err := policy.Load(filepath.Join(s.folder.Path, policy.FileName))
		if err != nil {
			return failure.From(err, policy.FileName)
		}
		p = file.Permissions
	}
	d, denied := policy.RecheckDeny(a, p, policy.Context{ScopeRoot: s.folder.Path})
	if !denied {
		return nil
	}
	return failure.New(failure.PolicyDenied, "action "+ref).Because("%s (%s)", d.Reason, d.Rule)
}

// plainPOSIX reports whether text means the same under any POSIX shell.
func plainPOSIX(text string) bool { return policy.PlainPOSIX(text) }
