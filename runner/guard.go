package runner

import (
	"path/filepath"
	"strings"

	"brabo.dev/runner/exec"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/machinepolicy"
	"brabo.dev/runner/runner/policy"
	"brabo.dev/runner/workspace"
)

// plan is what the guard has found fit to run.
type plan struct {
	dir     string
	env     []string
	beside  beside                // what it may use beside the project's folder
	confine machinepolicy.Confine // for what runs on the host
	// ask is why a person at this machine has to allow it first; empty: nobody has to.
	ask string
}

// guard checks by itself what the server should have checked: where the command runs, what environment it brings,
// and whether it may run here. It answers with a plan or with the failure that tells why nothing runs.
func (s *session) guard(e action.Exec) (plan, *failure.Failure) {
	p, fail := s.place(e.Cwd, e.Env)
	if fail != nil {
		return plan{}, fail
	}
	if e.Cwd != "" && !s.m.o.Commands.BareRepositories {
		// A command that has a cwd may stand in a folder that was filled to look like a bare repository.
		p.env = exec.GuardBareRepositories(p.env)
	}
	return s.judge(p, proposed{
		Action: policy.Action{Type: "terminal", Command: e.Command, Cwd: s.asWritten(p.dir)}, ref: e.Ref, decision: e.Decision,
		// The engine's own git work is not bound by the project's file (protocol.md section 12, last paragraph).
		fileBinds: e.Decision != nil || e.Cwd != "" && !e.GitCredentialed,
	})
}

// guardTyped is guard for a typed action.
func (s *session) guardTyped(t action.Typed) (plan, *failure.Failure) {
	p, fail := s.place(t.Cwd(), t.Env)
	if fail != nil {
		return plan{}, fail
	}
	a := proposed{Action: policy.Action{Type: t.Type}, ref: t.Ref, decision: t.Decision, fileBinds: true}
	switch {
	case t.WriteFile != nil:
		a.Path = t.WriteFile.Path
		a.files = []string{filepath.Join(s.folder.Path, t.WriteFile.Path), filepath.Join(s.folder.Real, t.WriteFile.Path)}
		a.writes = true
	case t.Commit != nil:
		for _, path := range t.Commit.Paths {
			a.files = append(a.files, filepath.Join(p.dir, path))
		}
	}
	return s.judge(p, a)
}

// guardContainer is guard for a container action; spec is that of a start.
func (s *session) guardContainer(c action.Container) (plan, *failure.Failure) {
	return s.judge(plan{dir: s.folder.Path}, proposed{
		Action: policy.Action{Type: c.Event}, ref: c.Ref, decision: c.Decision, fileBinds: true, spec: c.Spec,
	})
}

// guardFolder is guard for what reads or fills a folder that is not the project's: a mirror, a browse. real is the
// folder with its links followed, or folder where it is not there yet.
func (s *session) guardFolder(actionType, ref, folder string) *failure.Failure {
	real, err := workspace.RealPath(folder)
	if err != nil {
		real = folder // whoever uses it says what is wrong with it
	}
	lock, fail := s.lock()
	if fail == nil && !lock.AllowsFolder(folder, real) {
		fail = failure.New(failure.MachinePolicyRefused, folder).Because("`policy.json` on this machine allows no folder there, by `roots`")
	}
	if fail == nil {
		_, fail = s.judge(plan{}, proposed{Action: policy.Action{Type: actionType}, ref: ref, files: []string{folder, real}})
	}
	return fail
}

// guardTerminal is guard for a terminal, in which whoever types is their own judge: it is allowed, or it is not.
func (s *session) guardTerminal(ref string) *failure.Failure {
	lock, fail := s.lock()
	if fail == nil && !lock.Terminals() {
		fail = failure.New(failure.MachinePolicyRefused, "terminal "+ref).Because("`policy.json` on this machine allows no terminals here")
	}
	return fail
}

// place is the confined folder and the environment of an action.
func (s *session) place(cwd string, env map[string]string) (plan, *failure.Failure) {
	p := plan{dir: s.folder.Path}
	if cwd != "" {
		dir, err := workspace.Confine(s.folder.Path, cwd)
		if failure.Is(err, failure.CwdOutside) {
			lock, fail := s.lock()
			if fail != nil {
				return plan{}, fail
			}
			p.beside = s.besides(lock)
			dir, err = workspace.Confine(s.folder.Path, cwd, p.beside.written...)
		}
		if err != nil {
			return plan{}, failure.From(err, cwd)
		}
		p.dir = dir
	}
	made, err := s.m.environment(env)
	if err != nil {
		return plan{}, failure.From(err, "env")
	}
	p.env = made
	return p, nil
}

// environment is that of a command, with what its action brought. It is not to be written to.
func (m *Machine) environment(brought map[string]string) ([]string, error) {
	if len(brought) == 0 {
		return m.plainEnv()
	}
	return exec.Environment(m.o.Commands.Inherited, m.o.Commands.Environment, brought)
}

// asWritten gives a folder of the project, whose links were followed, below the root as it was written, which is where
// rules about paths look.
func (s *session) asWritten(dir string) string {
	if rest, err := filepath.Rel(s.folder.Real, dir); err == nil && filepath.IsLocal(rest) && !strings.HasPrefix(dir, s.folder.Path) {
		return filepath.Join(s.folder.Path, rest)
	}
	return dir
}

// plainPOSIX reports whether text means the same under any POSIX shell.
func plainPOSIX(text string) bool { return policy.PlainPOSIX(text) }
