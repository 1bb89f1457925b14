package main

import (
	"log/slog"

	"brabo.dev/runner/exec"
	"brabo.dev/runner/runner/settings"
)

// ownCgroup is where the kernel keeps what l gives a command with all that it starts; nil: it is given no bounds as a
// whole, or the kernel can't keep them here and they are counted.
func ownCgroup(l settings.Limits, log *slog.Logger) *exec.Cgroup {
	if l.Memory == 0 && l.PIDs == 0 {
		return nil
	}
	c, err := exec.ClaimCgroup()
	if err != nil {
		log.Info("the memory and processes of commands are counted, since the kernel can't keep their limits here", "reason", err)
	}
	return c
}
