package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kardianos/service"

	"brabo.dev/runner/runner/failure"
)

// systemctl is systemd, by the program that talks to it.
type systemctl struct {
	host    Host
	environ []string
}

// newManager gives the system's manager. The user's is found also where the session does not say how, as after su or
// in a job of cron: by the folder that systemd gives to each user.
func newManager(h Host, environ []string) manager {
	set := slices.ContainsFunc(environ, func(e string) bool { return strings.HasPrefix(e, "XDG_RUNTIME_DIR=") })
	usual := filepath.Join("/run/user", strconv.Itoa(h.UID))
	if _, err := os.Stat(usual); !set && err == nil {
		environ = append(slices.Clip(environ), "XDG_RUNTIME_DIR="+usual)
	}
	return systemctl{h, environ}
}

// call runs systemctl for the level of id.
func (s systemctl) call(ctx context.Context, id ID, args ...string) (string, error) {
	if !id.System {
		args = append([]string{"--user"}, args...)
	}
	return tell(ctx, s.environ, "systemctl", args...)
}

// reach fails where the manager of id's level does not answer at all.
func (s systemctl) reach(ctx context.Context, id ID) error {
	_, err := s.call(ctx, id, "show", "--property=Version")
	if err == nil {
		return nil
	}
	if platform := service.Platform(); platform != "linux-systemd" {
		return silent(err, "this Linux is run by %s instead of systemd: have that start `runner run`, and `runner hub` where a hub is wanted", platform)
	}
	if id.System {
		return silent(err, "look at `systemctl status`")
	}
	return silent(err, "log in as this user in a session of its own (ssh, or `machinectl shell USER@`), or run `sudo loginctl enable-linger USER`")
}

func (s systemctl) activate(ctx context.Context, d Definition, start bool) error {
	if err := s.reach(ctx, d.ID); err != nil {
		return err
	}
	if _, err := s.call(ctx, d.ID, "daemon-reload"); err != nil {
		return notActivated(s.host.Name(d.ID), err, "")
	}
	if _, err := s.call(ctx, d.ID, "enable", s.host.Name(d.ID)); err != nil {
		return notActivated(s.host.Name(d.ID), err, "")
	}
	verb := "try-restart"
	if start {
		verb = "restart"
	}
	return s.verb(ctx, d.ID, verb)
}

// verb asks for one step. Where it fails, the manager's words are of little use without the log's.
func (s systemctl) verb(ctx context.Context, id ID, verb string) error {
	if err := s.reach(ctx, id); err != nil {
		return err
	}
	name := s.host.Name(id)
	_, err := s.call(ctx, id, verb, name)
	if err == nil {
		return nil
	}
	if shown, askErr := s.show(ctx, id); askErr == nil && shown["ExecMainStatus"] != "" && shown["ExecMainStatus"] != "0" {
		err = fmt.Errorf("%w; the program ended with exit code %s", err, shown["ExecMainStatus"])
	}
	level := "--user "
	if id.System {
		level = ""
	}
	return notActivated(name, err, "read why with `journalctl %s-u %s -n 20`, then run `runner service start`", level, name)
}

func (s systemctl) deactivate(ctx context.Context, d Definition) error {
	name := s.host.Name(d.ID)
	// The link that starts it is removed in any case: without an answering manager it would dangle.
	for _, target := range []string{"default.target.wants", "multi-user.target.wants"} {
		link := filepath.Join(s.host.folder(d.System), target, name)
		if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
			return failure.New(failure.ServiceNotWritten, link).Because("the link can't be removed: %v", err).Wrap(err)
		}
	}
	if err := s.reach(ctx, d.ID); err != nil {
		return err
	}
	if _, err := s.call(ctx, d.ID, "stop", name); err != nil && !strings.Contains(err.Error(), "not loaded") {
		return notActivated(name, err, "stop it by hand: `systemctl stop %s`", name)
	}
	return nil
}

// forget makes the manager drop what it knew of a unit whose file is gone.
func (s systemctl) forget(ctx context.Context, id ID) error {
	if _, err := s.call(ctx, id, "daemon-reload"); err != nil {
		return silent(err, "")
	}
	// Of a unit that never failed there is nothing to forget; systemctl calls that an error.
	_, _ = s.call(ctx, id, "reset-failed", s.host.Name(id))
	return nil
}

func (s systemctl) start(ctx context.Context, id ID) error   { return s.anew(ctx, id, "start") }
func (s systemctl) stop(ctx context.Context, id ID) error    { return s.verb(ctx, id, "stop") }
func (s systemctl) restart(ctx context.Context, id ID) error { return s.anew(ctx, id, "restart") }

// anew is verb after the manager has read the unit again, with what an administrator may have added to it.
func (s systemctl) anew(ctx context.Context, id ID, verb string) error {
	if err := s.reach(ctx, id); err != nil {
		return err
	}
	if _, err := s.call(ctx, id, "daemon-reload"); err != nil {
		return notActivated(s.host.Name(id), err, "")
	}
	return s.verb(ctx, id, verb)
}

// show gives the manager's properties of a unit.
func (s systemctl) show(ctx context.Context, id ID) (map[string]string, error) {
	out, err := s.call(ctx, id, "show", "--property=ActiveState,SubState,UnitFileState,MainPID,Result,ExecMainStatus,NRestarts", s.host.Name(id))
	if err != nil {
		return nil, err
	}
	shown := map[string]string{}
	for line := range strings.Lines(out) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			shown[key] = value
		}
	}
	return shown, nil
}

func (s systemctl) status(ctx context.Context, id ID) (Status, error) {
	if err := s.reach(ctx, id); err != nil {
		return Status{}, err
	}
	shown, err := s.show(ctx, id)
	if err != nil {
		return Status{}, silent(err, "")
	}
	pid, err := strconv.Atoi(shown["MainPID"])
	if err != nil {
		return Status{}, silent(fmt.Errorf("it gave no process id: %w", err), "")
	}
	st := Status{State: Stopped, PID: pid, Detail: shown["ActiveState"] + " (" + shown["SubState"] + ")", Enabled: shown["UnitFileState"] == "enabled"}
	if !st.Enabled {
		st.Detail += ", not started at login or boot"
	}
	if pid > 0 {
		st.State = Running
	}
	if result := shown["Result"]; result != "success" && result != "" {
		st.Detail += fmt.Sprintf(", last end: %s, exit code %s", result, shown["ExecMainStatus"])
	}
	if n := shown["NRestarts"]; n != "0" && n != "" {
		st.Detail += ", restarted " + n + " times"
	}
	return st, nil
}

// systemdVersion asks for the version of systemd; 0 where it is not known.
func systemdVersion(ctx context.Context, environ []string) int {
	out, err := tell(ctx, environ, "systemctl", "--version")
	if err != nil {
		return 0
	}
	fields := strings.Fields(out)
	if len(fields) < 2 {
		return 0
	}
	digits, _, _ := strings.Cut(fields[1], ".")
	version, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return version
}

// Lingers reports whether the services of the user called name live on after logout. systemd keeps a file for each who has
// that.
func Lingers(name string) bool {
	_, err := os.Stat(filepath.Join("/var/lib/systemd/linger", name))
	return err == nil
}

// Linger lets the services of the user called name live on after logout. It fails with LingerRefused where the user
// may not have that, and then names what an administrator does.
func Linger(ctx context.Context, environ []string, name string) error {
	if Lingers(name) {
		return nil
	}
	if _, err := tell(ctx, environ, "loginctl", "--no-ask-password", "enable-linger", name); err != nil {
		return failure.New(failure.LingerRefused, name).
			Because("this user may not let services live on after logout: %v", err).
			Then("run `sudo loginctl enable-linger %s` once; until then the services end with the last session", name).Wrap(err)
	}
	return nil
}
