package main

import (
	"regexp"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// deviceKey is a key that no server knows; the daemon that has it goes on asking.
const deviceKey = `{"kty":"OKP","crv":"Ed25519","x":"7rKQLZBgBYUW8W62SNPiNnhjKBn0wefax7JyU9mCeJc",` +
	`"d":"dzpPopuI4_KNx-qnj3WNpMLS2v0Vek-qyopYqciI7cE","kid":"reg-1"}`

// awkward is a folder whose name has everything that a unit could trip over.
const awkward = `100% loja $HOME; \x41`

// TestRootServiceOfAUserOnSystemd needs a container with a real systemd: an ordinary user's service is installed, killed,
// stuck, stopped, broken and removed.
func TestRootServiceOfAUserOnSystemd(t *testing.T) {
	b := newBed(t)
	b.user("bob")
	b.install("1.0.0")
	b.code("bob", "runner service status --project 7c1e", 4)
	b.as("bob", `mkdir '`+awkward+`' && printf %s '`+deviceKey+`' >'`+awkward+`/brabo-runner-device-key.jwk.json'`)
	const install = `runner service install --project 7c1e --dir '` + awkward + `' --api-url 'http://127.0.0.1:9/%25h' --env GREETING`
	b.as("bob", `GREETING='say "olá" to %u; $x' `+install)

	t.Run("what was asked for is what runs", func(t *testing.T) {
		pid := strings.TrimSpace(b.as("bob", mainPID("runner-7c1e"))) // what it knows is hidden from bob's other processes
		cwd := b.root("readlink /proc/" + pid + "/cwd")
		if want := "/home/bob/" + awkward + "\n"; cwd != want {
			t.Errorf("working folder %q, want %q", cwd, want)
		}
		words := b.as("bob", `tr '\0' '\n' </proc/$(`+mainPID("runner-7c1e")+`)/cmdline`)
		want := "/usr/bin/runner\nrun\n--project\n7c1e\n--dir\n/home/bob/" + awkward + "\n--api-url\nhttp://127.0.0.1:9/%25h\n"
		if words != want {
			t.Errorf("words %q, want %q", words, want)
		}
		environ := b.root(`tr '\0' '\n' </proc/` + pid + "/environ")
		if !strings.Contains(environ, "GREETING=say \"olá\" to %u; $x\n") {
			t.Errorf("environment %q", environ)
		}
		b.as("bob", "systemd-analyze --user verify ~/.config/systemd/user/runner-7c1e.service")
	})
	t.Run("killed, it comes back", func(t *testing.T) {
		b.as("bob", `old=$(`+mainPID("runner-7c1e")+`) && kill -9 $old && `+newPID("runner-7c1e"))
		b.as("bob", "runner service status --project 7c1e")
	})
	t.Run("stuck, the watchdog ends it", func(t *testing.T) {
		b.as("bob", `mkdir -p ~/.config/systemd/user/runner-7c1e.service.d &&
printf '[Service]\nWatchdogSec=2\nTimeoutAbortSec=2\n' >~/.config/systemd/user/runner-7c1e.service.d/short.conf && runner service restart --project 7c1e`)
		b.as("bob", `old=$(`+mainPID("runner-7c1e")+`) && kill -STOP $old && `+newPID("runner-7c1e"))
		b.root(`journalctl --no-pager | grep "runner-7c1e.service: Watchdog timeout"`)
		b.as("bob", "rm -r ~/.config/systemd/user/runner-7c1e.service.d && runner service restart --project 7c1e")
	})
	t.Run("stopped and started", func(t *testing.T) {
		b.as("bob", "runner service stop --project 7c1e")
		out := b.code("bob", "runner service status --project 7c1e", 3)
		if !strings.Contains(out, "runner-7c1e.service: stopped: inactive (dead)") {
			t.Error(out)
		}
		b.as("bob", "runner service start --project 7c1e && runner service status --project 7c1e")
	})
	t.Run("an exit that needs a person stays down", func(t *testing.T) {
		b.as("bob", `cp '`+awkward+`'/brabo-runner-device-key.jwk.json key && echo broken >'`+awkward+`'/brabo-runner-device-key.jwk.json`)
		out := b.code("bob", "runner service restart --project 7c1e", 5)
		failuretest.Produced(t, nameIn(t, out), failure.ServiceNotActivated)
		if !strings.Contains(out, "exit code 2") {
			t.Error(out)
		}
		out = b.code("bob", "runner service status --project 7c1e", 3)
		if !strings.Contains(out, "failed") || strings.Contains(out, "restarted") {
			t.Error(out)
		}
		b.as("bob", `cp key '`+awkward+`'/brabo-runner-device-key.jwk.json && runner service start --project 7c1e`)
	})
	t.Run("a changed PATH is captured again", func(t *testing.T) {
		out := b.as("bob", `PATH=/home/bob/bin:$PATH GREETING=hi runner service refresh-env --project 7c1e`)
		if !strings.Contains(out, "+ PATH=/home/bob/bin:") || !strings.Contains(out, "+ GREETING=hi") {
			t.Error(out)
		}
		pid := strings.TrimSpace(b.as("bob", mainPID("runner-7c1e")))
		b.root(`tr '\0' '\n' </proc/` + pid + "/environ | grep ^PATH=/home/bob/bin:")
	})
	t.Run("removed, its key stays", func(t *testing.T) {
		b.as("bob", "runner service uninstall --project 7c1e")
		b.code("bob", "runner service status --project 7c1e", 4)
		b.code("bob", "systemctl --user cat runner-7c1e.service", 1)
		b.as("bob", `test -e '`+awkward+`'/brabo-runner-device-key.jwk.json && ! pgrep -u bob -x runner && ! ls ~/.config/systemd/user/*.wants/runner*`)
	})
	t.Run("a manager that is not there", func(t *testing.T) {
		b.root("useradd --create-home eve")
		b.as("eve", `mkdir shop && printf %s '`+deviceKey+`' >shop/brabo-runner-device-key.jwk.json`)
		out := b.code("eve", `XDG_RUNTIME_DIR=/nowhere runner service install --project 7c1e --dir shop --api-url http://127.0.0.1:9`, 5)
		failuretest.Produced(t, nameIn(t, out), failure.ServiceManagerSilent)
	})
}

// mainPID is a command that prints the process of a user's service.
func mainPID(unit string) string {
	return "XDG_RUNTIME_DIR=/run/user/$(id -u) systemctl --user show --property=MainPID --value " + unit + ".service"
}

// newPID waits until a user's service runs as another process than $old.
func newPID(unit string) string {
	return `until new=$(` + mainPID(unit) + `) && [ "$new" != 0 ] && [ "$new" != "$old" ] && XDG_RUNTIME_DIR=/run/user/$(id -u) systemctl --user is-active -q ` +
		unit + `.service; do sleep 0.2; done`
}

// nameIn finds the name of the failure that a command printed.
func nameIn(t *testing.T, out string) failure.Name {
	t.Helper()
	m := regexp.MustCompile(`(?m)^runner: ([a-z_]+): `).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no failure in %s", out)
	}
	return failure.Name(m[1])
}
