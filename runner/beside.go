package runner

import (
	"path/filepath"
	"slices"

	"brabo.dev/runner/runner/machinepolicy"
	"brabo.dev/runner/workspace"
)

// beside are the folders that count as the project's own (settings.md, also_inside), as they are written and, in the same
// order, with their links followed.
type beside struct{ written, real []string }

// besides gives those that this machine names and policy.json lets a project lie in, as long as each leads where it led
// when it was looked at first, as the root does. None of them opens what is this daemon's own.
func (s *session) besides(lock machinepolicy.Lock) beside {
	var b beside
	if s.m.o.AlsoInside == nil {
		return b
	}
	for _, folder := range s.m.o.AlsoInside(s.project) {
		real, err := workspace.RealPath(folder)
		if err != nil || !s.leadsAsBefore(folder, real) || !lock.AllowsFolder(folder, real) || s.m.o.Protected.SteersPath(real) || s.holdsOurs(real) {
			continue
		}
		b.written, b.real = append(b.written, folder), append(b.real, real)
	}
	return b
}

// holdsOurs reports whether a folder of this daemon lies in real.
func (s *session) holdsOurs(real string) bool {
	return slices.ContainsFunc(s.m.o.Protected.Folders, func(ours string) bool {
		if followed, err := workspace.RealPath(ours); err == nil {
			ours = followed
		}
		rel, err := filepath.Rel(real, ours)
		return err == nil && filepath.IsLocal(rel)
	})
}

func (s *session) leadsAsBefore(folder, real string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known := s.led[folder]
	if !known {
		s.led[folder] = real
	}
	return !known || before == real
}
