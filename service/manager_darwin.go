package service

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// launchctl is launchd, by the program that talks to it and its present verbs.
type launchctl struct {
	host    Host
	environ []string
}

func newManager(h Host, environ []string) manager { return launchctl{h, environ} }

// domain is where the job lives: the system, or the session of the user at the screen.
func (l launchctl) domain(id ID) string {
	if id.System {
		return "system"
	}
	return fmt.Sprintf("gui/%d", l.host.UID)
}

func (l launchctl) target(id ID) string { return l.domain(id) + "/" + l.host.Name(id) }

func (l launchctl) call(ctx context.Context, args ...string) (string, error) {
	return tell(ctx, l.environ, "launchctl", args...)
}

func (l launchctl) reach(ctx context.Context, id ID) error {
	if _, err := l.call(ctx, "print", l.domain(id)); err != nil {
		return silent(err, "log in at the screen once, since agents of a user live in that session, or install with `--system --as-user NAME`")
	}
	return nil
}

func (l launchctl) loaded(ctx context.Context, id ID) bool {
	_, err := l.call(ctx, "print", l.target(id))
	return err == nil
}

func (l launchctl) activate(ctx context.Context, d Definition, start bool) error {
	if err := l.reach(ctx, d.ID); err != nil {
		return err
	}
	loaded := l.loaded(ctx, d.ID)
	if loaded {
		if err := l.stop(ctx, d.ID); err != nil {
			return err
		}
	}
	if !start && !loaded {
		return nil
	}
	return l.start(ctx, d.ID)
}

func (l launchctl) deactivate(ctx context.Context, d Definition) error {
	if err := l.reach(ctx, d.ID); err != nil {
		return err
	}
	return l.stop(ctx, d.ID)
}

func (l launchctl) forget(context.Context, ID) error { return nil } // launchd knows nothing of a job that is booted out

func (l launchctl) start(ctx context.Context, id ID) error {
	if err := l.reach(ctx, id); err != nil {
		return err
	}
	if _, err := l.call(ctx, "enable", l.target(id)); err != nil {
		return notActivated(l.host.Name(id), err, "")
	}
	if !l.loaded(ctx, id) {
		if _, err := l.call(ctx, "bootstrap", l.domain(id), l.host.Path(id)); err != nil {
			return notActivated(l.host.Name(id), err, "")
		}
	}
	if _, err := l.call(ctx, "kickstart", l.target(id)); err != nil {
		return notActivated(l.host.Name(id), err, "")
	}
	return nil
}

func (l launchctl) stop(ctx context.Context, id ID) error {
	if !l.loaded(ctx, id) {
		return l.reach(ctx, id)
	}
	if _, err := l.call(ctx, "bootout", l.target(id)); err != nil {
		return notActivated(l.host.Name(id), err, "stop it by hand: `launchctl bootout %s`", l.target(id))
	}
	return nil
}

func (l launchctl) restart(ctx context.Context, id ID) error {
	if !l.loaded(ctx, id) {
		return l.start(ctx, id)
	}
	if _, err := l.call(ctx, "kickstart", "-k", l.target(id)); err != nil {
		return notActivated(l.host.Name(id), err, "")
	}
	return nil
}

var (
	jobState = regexp.MustCompile(`(?m)^\s*state = (.+)$`)
	jobPID   = regexp.MustCompile(`(?m)^\s*pid = (\d+)$`)
)

func (l launchctl) status(ctx context.Context, id ID) (Status, error) {
	if err := l.reach(ctx, id); err != nil {
		return Status{}, err
	}
	out, err := l.call(ctx, "print", l.target(id))
	if err != nil {
		return Status{State: Stopped, Detail: "not loaded"}, nil
	}
	st := Status{State: Stopped, Enabled: true} // what is loaded is loaded at each login
	if m := jobState.FindStringSubmatch(out); m != nil {
		st.Detail = strings.TrimSpace(m[1])
	}
	if m := jobPID.FindStringSubmatch(out); m != nil {
		if pid, err := strconv.Atoi(m[1]); err == nil {
			st.State, st.PID = Running, pid
		}
	}
	return st, nil
}

func systemdVersion(context.Context, []string) int { return 0 }

// Lingers is true of nobody's agents: launchd ends them with the session, and no right changes that.
func Lingers(string) bool { return false }

// Linger has nothing to do: a service that must live without a session is a daemon of the system.
func Linger(context.Context, []string, string) error { return nil }
