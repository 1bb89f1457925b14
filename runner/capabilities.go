package runner

import (
	osexec "os/exec"
	"slices"

	"brabo.dev/runner/runner/action"
)

// capabilities are what a join declares: what works in this execution (protocol.md 3.4).
func (s *session) capabilities() []string {
	m := s.m
	all := []string{action.CapabilityExec}
	if m.o.Terminals.Max > 0 && s.guardTerminal("pty") == nil {
		all = append(all, action.CapabilityPTY)
	}
	if m.gitWorks() {
		all = append(all, action.CapabilityMirror)
	}
	return all
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

// extensions are those that work in this execution: typed actions want a git.
func (m *Machine) extensions() []action.Extension {
	if m.gitWorks() {
		return m.o.Extensions
	}
	return slices.DeleteFunc(slices.Clone(m.o.Extensions), func(x action.Extension) bool { return x == action.ExtAction })
}
