package runner

import (
	osexec "os/exec"
	"slices"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/machinepolicy"
	"brabo.dev/runner/workspace"
)

// capabilities are what a join declares: what works in this execution (protocol.md 3.4).
func (s *session) capabilities() []string {
	m := s.m
	all := []string{action.CapabilityExec}
	if m.o.Terminals.Max > 0 && s.guardTerminal("pty") == nil {
		all = append(all, action.CapabilityPTY)
	}
	if m.gitWorks() && s.lockAllows(machinepolicy.TypeMirror) {
		all = append(all, action.CapabilityMirror)
	}
	if m.baseWorks() && s.lockAllows(machinepolicy.TypeWorkspaceCreate) && !s.confines() {
		all = append(all, action.CapabilityWorkspace)
	}
	return all
}

// lockAllows reports whether this machine's policy lets the project have actions of a type.
func (s *session) lockAllows(actionType string) bool {
	lock, fail := s.lock()
	return fail == nil && lock.Allows(actionType)
}

// confines reports whether this machine's policy demands a confinement, which a clone can't have.
func (s *session) confines() bool {
	lock, fail := s.lock()
	return fail != nil || lock.Confine().On
}

// gitWorks reports whether there is a git to run.
func (m *Machine) gitWorks() bool {
	if m.o.Git == nil {
		return false
	}
	program := m.o.Git.Program
	if program == "" {
		program = "git"
	}
	_, err := osexec.LookPath(program)
	return err == nil
}

// baseWorks reports whether project folders can be made: it is the server's only knowledge of the base.
func (m *Machine) baseWorks() bool {
	w := m.o.Workspaces
	return w.Base != "" && m.gitWorks() && workspace.PermittedBase(w.Base, w.Root, m.o.Folder) == nil
}

// extensions are those that work in this execution: typed actions want a git, and the end of a shell wants terminals.
func (s *session) extensions(capabilities []string) []action.Extension {
	return slices.DeleteFunc(slices.Clone(s.m.o.Extensions), func(x action.Extension) bool {
		return x == action.ExtAction && !s.m.gitWorks() || x == action.ExtPtyClosed && !slices.Contains(capabilities, action.CapabilityPTY)
	})
}
