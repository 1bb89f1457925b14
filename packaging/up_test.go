package main

import (
	"regexp"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// installLines are the commands of the README's part about installing, without what they say about themselves.
func installLines(t *testing.T) []string {
	t.Helper()
	_, part, _ := strings.Cut(string(read(t, "../README.md")), "<!-- begin: install -->")
	part, _, _ = strings.Cut(part, "<!-- end: install -->")
	var lines []string
	for line := range strings.Lines(part) {
		command, _, _ := strings.Cut(line, " #")
		if command = strings.TrimSpace(command); command != "" && !strings.HasPrefix(command, "```") {
			lines = append(lines, command)
		}
	}
	if len(lines) != 3 {
		t.Fatalf("%d commands install: %q", len(lines), lines)
	}
	return lines
}

// TestRootUpOnSystemd needs a container with a real systemd: a person goes from the package file to an approved command
// that the installed services executed, with the README's three commands; then daemon and package change under it.
func TestRootUpOnSystemd(t *testing.T) {
	b := newBed(t)
	b.root("useradd --create-home --shell /bin/bash bob && useradd --create-home --shell /bin/bash ana")
	lines := installLines(t)
	apt, sudo := strings.CutPrefix(lines[0], "sudo ")
	if !sudo {
		t.Fatalf("%q needs root", lines[0])
	}
	b.putPackage("1.0.0")
	b.root("cd /root && " + apt)
	// In one session: without lingering the services would go with it.
	b.as("bob", lines[1]+" 2>said; grep linger_refused said && "+lines[1]+" --linger")
	link := b.link("bob")
	b.as("bob", "git init -q shop && cd shop && "+lines[2])

	t.Run("its services live on after logout", func(t *testing.T) {
		b.until("root", `test "$(loginctl show-user bob --property=State --value)" = lingering`)
		if n := strings.TrimSpace(b.root(`pgrep -c -u bob -x runner`)); n != "2" {
			t.Errorf("%s of bob's services run", n)
		}
	})
	t.Run("its result is seen", func(t *testing.T) {
		b.approved("bob", "first", `echo made by $(id -un) | tee made; exit 3`)
		b.until("bob", `test -s first.code`)
		out := b.as("bob", `cat first.out shop/made; cat first.code; runner history`)
		if !regexp.MustCompile(`(?s)made by bob\n.*made by bob\n1\n.* exit 3 .*echo made by`).MatchString(out) {
			t.Error(out)
		}
	})
	t.Run("the link opens the page once", func(t *testing.T) {
		const get = `exec 3<>/dev/tcp/127.0.0.1/4680 && printf 'GET %s HTTP/1.1\r\nHost: 127.0.0.1:4680\r\nConnection: close\r\n\r\n' '`
		path := strings.TrimPrefix(link, "http://127.0.0.1:4680")
		if out := b.as("bob", get+path+`' >&3 && cat <&3`); !strings.HasPrefix(out, "HTTP/1.1 200 ") || !strings.Contains(out, "Set-Cookie: runner_session=") {
			t.Error(out)
		}
		if out := b.as("bob", get+path+`' >&3 && cat <&3`); !strings.HasPrefix(out, "HTTP/1.1 401 ") {
			t.Error(out)
		}
	})
	t.Run("repeated, it changes nothing", func(t *testing.T) {
		b.as("bob", mainPID("runner")+" >pid; "+mainPID("runner-hub")+" >>pid; find .config -type f | sort | xargs sha256sum >config")
		if out := b.as("bob", "umask 077; PATH=/usr/bin:/bin runner up --json"); !strings.Contains(out, `"changed":[]`) {
			t.Error(out)
		}
		b.as("bob", "{ "+mainPID("runner")+"; "+mainPID("runner-hub")+"; } | diff pid - && sha256sum --check --quiet config")
	})
	t.Run("it mends what is missing", func(t *testing.T) {
		const session = "export XDG_RUNTIME_DIR=/run/user/$(id -u); "
		for _, c := range []struct{ broken, mended string }{
			{"systemctl --user stop runner-hub.service", "started runner-hub.service"},
			{"systemctl --user disable runner.service", "had runner.service started at login again"},
			{"echo '# changed' >>.config/systemd/user/runner.service", "brought runner.service up to date"},
			{"rm .config/systemd/user/runner.service", "installed runner.service"},
			{"rm .config/runner/pairing*", "paired this machine as "},
			{"runner config set hub.listen 127.0.0.1:4681 && systemctl --user restart runner-hub.service", "found the hub at http://127.0.0.1:4681 now"},
		} {
			if out := b.as("bob", session+c.broken+" && runner up"); !strings.Contains(out, c.mended) {
				t.Errorf("%s: %s", c.broken, out)
			}
		}
		b.until("bob", "runner project list | grep served")
	})
	t.Run("killed, the daemon comes back and joins", func(t *testing.T) {
		b.as("bob", `old=$(`+mainPID("runner")+`) && kill -9 $old && `+newPID("runner"))
		b.until("bob", "runner project list | grep served && runner status")
	})
	t.Run("stuck in its log, the watchdog ends it, and nothing is lost", func(t *testing.T) { b.stuck("bob") })
	t.Run("an upgrade keeps a running action's result", func(t *testing.T) {
		b.as("bob", "runner config set drain.grace 5m && runner up")
		b.until("bob", "runner project list | grep served")
		b.approved("bob", "running", `touch begun; until test -e go; do sleep 0.2; done; echo over the upgrade >done`)
		b.until("bob", "test -e shop/begun")
		b.as("bob", mainPID("runner")+" >pid")
		b.install("1.0.1")
		b.as("bob", `touch shop/go; old=$(cat pid); `+newPID("runner")+`; until runner status | grep "^runner 1.0.1 is running"; do sleep 0.2; done`)
		b.until("bob", `runner pending --all | grep "$(cat running.id) *executed"`)
		b.as("bob", `grep "over the upgrade" shop/done && runner history | grep -c "touch begun" | grep -x 1`)
	})
	t.Run("another person can't reach it, and has one of their own", func(t *testing.T) {
		b.root(`chmod 755 /home/bob /home/bob/.local /home/bob/.local/share /home/bob/.local/state /home/bob/.config`)
		readable := b.root(`for f in $(find /home/bob/.config/runner /home/bob/.local/share/runner /home/bob/.local/state/runner /home/bob/.config/systemd/user -type f -o -type s); do runuser -u ana -- test -r $f && echo $f; done; true`)
		if readable != "" {
			t.Errorf("ana can read %s", readable)
		}
		failuretest.Produced(t, nameIn(t, b.code("ana", "XDG_RUNTIME_DIR=/nowhere runner up", 5)), failure.ServiceManagerSilent)
		b.root("systemctl start user@$(id -u ana).service") // without lingering, it would go with each of ana's shells
		b.as("ana", "runner config set hub.listen 127.0.0.1:4681")
		failuretest.Produced(t, nameIn(t, b.code("ana", "runner up", 2)), failure.HubNotListening) // bob's is there
		out := b.as("ana", "runner config set hub.listen 127.0.0.1:4680 && runner up")
		failuretest.Produced(t, nameIn(t, out), failure.LingerRefused) // it is said; nobody asked for it
		b.root("systemctl mask --now polkit.service")                  // which would let ana have it
		failuretest.Produced(t, nameIn(t, b.code("ana", "runner up --linger", 1)), failure.LingerRefused)
		b.as("ana", "runner down")
		failuretest.Produced(t, nameIn(t, b.code("root", "runner up", 2)), failure.ServiceRoot)
	})
	t.Run("down, it keeps the data, and up again it goes on with it", func(t *testing.T) {
		b.as("bob", "runner down && ! pgrep -u bob -x runner && ! ls .config/systemd/user/*/runner* .config/systemd/user/runner*")
		if out := b.as("bob", "runner up"); strings.Contains(out, "paired") {
			t.Error(out)
		}
		b.until("bob", `runner project list | grep served && runner history | grep "touch begun"`)
	})
	t.Run("removed and purged", func(t *testing.T) {
		b.root("dpkg --remove runner && ! pgrep -x runner && test -e /home/bob/.local/share/runner/hub")
		b.root("dpkg --purge runner && ! find /home -path '*runner*' | grep .")
	})
}

// link has a user's hub make a link to its page.
func (b *bed) link(user string) string {
	b.t.Helper()
	out := b.as(user, "runner up")
	link := regexp.MustCompile(`http://\S+/login\?code=\S+`).FindString(out)
	if link == "" {
		b.t.Fatalf("no link in %s", out)
	}
	return link
}

// approved proposes a command in the user's project shop, and approves it. Files called name, with endings, get the
// action's id, what waiting for it printed, and its exit code.
func (b *bed) approved(user, name, command string) {
	b.t.Helper()
	b.as(user, `cd shop && { runner propose terminal --wait -- '`+command+`' >../`+name+`.out 2>../`+name+`.err </dev/null; echo $? >../`+name+`.code; } >/dev/null 2>&1 &
until runner pending | grep -qF '`+command+`'; do sleep 0.2; done; runner pending | grep -F '`+command+`' | cut -d ' ' -f 1 >`+name+`.id; runner approve $(cat `+name+`.id)`)
}
