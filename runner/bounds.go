package runner

import (
	"cmp"
	"path/filepath"
	"slices"

	"brabo.dev/runner/exec"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/machinepolicy"
)

// bounds hold a command or a terminal on the host inside the project's folder and what counts as it, where policy.json
// says so, and inside commands.limits. This daemon's own folders stay out whatever the file opens.
func (s *session) bounds(c machinepolicy.Confine, b beside) exec.Bounds {
	bounds := exec.Bounds{Limits: s.m.o.Commands.Limits, Cgroup: s.m.o.Commands.Cgroup, Helper: s.m.o.Commands.Helper}
	if c.On {
		bounds.Confine = &exec.Confine{
			Read:    slices.Concat(c.Read, gitConfiguration(s.m.o.Protected.Variables)),
			Write:   slices.Concat([]string{s.folder.Real}, b.real, c.Write),
			Out:     s.m.o.Protected.Folders,
			Network: c.Network,
		}
	}
	return bounds
}

// gitConfiguration is the user's own, without which git does nothing where it sees that there is one. Where git keeps
// credentials is not in it.
func gitConfiguration(variables map[string]string) []string {
	home := variables["HOME"]
	if home == "" {
		return nil
	}
	config := filepath.Join(cmp.Or(variables["XDG_CONFIG_HOME"], filepath.Join(home, ".config")), "git")
	return []string{
		filepath.Join(home, ".gitconfig"), filepath.Join(config, "config"), filepath.Join(config, "ignore"), filepath.Join(config, "attributes"),
	}
}

// unconfinedGit refuses git that this daemon itself runs on the host: its remote and its credential lie outside of what
// a confined command reaches.
func unconfinedGit(c machinepolicy.Confine) *failure.Failure {
	if !c.On {
		return nil
	}
	return failure.New(failure.ConfinementUnavailable, "git").
		Because("git in typed actions and clones can't be confined, and `policy.json` demands it")
}
