package runner

import (
	"brabo.dev/runner/exec"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/workspace"
)

// plan is what the guard has found fit to run.
type plan struct {
	dir string
	env []string
}

// guard checks by itself what the server should have checked: where the command runs, what environment it brings,
// and the deny rules. It answers with a plan or with the failure that tells why nothing runs.
func (s *session) guard(e action.Exec) (plan, *failure.Failure) {
	p, fail := s.place(e.Cwd, e.Env)
	if fail != nil {
		return plan{}, fail
	}
	if e.Cwd != "" && !s.m.o.Commands.BareRepositories {
		// A command that has a cwd may stand in a folder that was filled to look like a bare repository.
		p.env = exec.GuardBareRepositories(p.env)
	}
	return p, s.denied(e)
}

// place is the confined folder and the environment of an action.
func (s *session) place(cwd string, env map[string]string) (plan, *failure.Failure) {
	p := plan{dir: s.folder.Path}
	if cwd != "" {
		dir, err := workspace.Confine(s.folder.Path, cwd)
		if err != nil {
			return plan{}, failure.From(err, cwd)
		}
		p.dir = dir
	}
	c := s.m.o.Commands
	made, err := exec.Environment(c.Inherited, c.Environment, env)
	if err != nil {
		return plan{}, failure.From(err, "env")
	}
	p.env = made
	return p, nil
}
