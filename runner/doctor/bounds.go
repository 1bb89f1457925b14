package doctor

import (
	"context"
	"runtime"
	"strings"

	"brabo.dev/runner/exec"
	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/settings"
)

// Bounds are what commands on the host are held to.
type Bounds struct {
	// Demanded tells whether policy.json wants commands confined.
	Demanded func() (bool, error)
	Limits   settings.Limits // commands.limits
}

// Checks are confinement and limits.
func (b Bounds) Checks() []Check {
	return []Check{{"confinement", b.confinement}, {"limits", b.limits}}
}

// Unmet are the demands of policy.json and the settings that this machine can't meet, worst first; none: it meets all.
func (b Bounds) Unmet() []control.Item {
	_, able := exec.Confinement()
	return b.unmet(able)
}

// unmet is Unmet where able says why commands can't be confined.
func (b Bounds) unmet(able error) (items []control.Item) {
	demanded, err := b.Demanded()
	if err == nil && demanded {
		err = able
	}
	if err != nil {
		items = append(items, control.Item{Severity: control.Error, Failure: failure.From(err, "policy.json")})
	}
	if f := unkept(b.Limits); f != nil {
		items = append(items, control.Item{Severity: control.Warning, Failure: f})
	}
	return items
}

func (b Bounds) confinement(context.Context) (string, error) {
	demanded, err := b.Demanded()
	if err != nil {
		return "", err
	}
	told, err := exec.Confinement()
	switch {
	case demanded:
		return told, err
	case err != nil:
		return "off, and this machine can't confine commands on the host", nil
	}
	return "off; with `confine` in policy.json " + told, nil
}

func (b Bounds) limits(context.Context) (string, error) {
	if f := unkept(b.Limits); f != nil {
		return "", Warning(f)
	}
	if b.Limits.Memory == 0 && b.Limits.PIDs == 0 {
		return "all that are set hold", nil
	}
	return "all that are set hold, `memory` and `pids` by the kernel", nil
}

// unkept names the limits that are set and that do not hold here, or are only counted; nil: all of them hold.
func unkept(l settings.Limits) *failure.Failure {
	if f := unenforced(l, runtime.GOOS); f != nil || l.Memory == 0 && l.PIDs == 0 {
		return f
	}
	if err := exec.KernelKeepsLimits(); err != nil {
		return failure.New(failure.LimitsCounted, "commands.limits").Wrap(err)
	}
	return nil
}

// unenforced names the limits that are set and that a daemon on this system can't hold commands to; nil: there are none.
func unenforced(l settings.Limits, system string) *failure.Failure {
	var names []string
	for _, limit := range []struct {
		name string
		set  bool
		held bool
	}{
		{"cpu", l.CPU > 0, system != "windows"}, {"memory", l.Memory > 0, system == "linux"}, {"pids", l.PIDs > 0, system == "linux"},
		{"open_files", l.OpenFiles > 0, system != "windows"}, {"file_size", l.FileSize > 0, system != "windows"},
	} {
		if limit.set && !limit.held {
			names = append(names, "`"+limit.name+"`")
		}
	}
	if len(names) == 0 {
		return nil
	}
	return failure.New(failure.LimitsNotEnforced, "commands.limits").Because("no limit holds for %s here", strings.Join(names, ", "))
}
