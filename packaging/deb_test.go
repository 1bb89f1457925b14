package main

import (
	"strings"
	"testing"
)

// TestRootDebOnSystemd needs a container with a real systemd: the package is installed, serves two people in two ways, is
// upgraded, removed, installed again and purged.
func TestRootDebOnSystemd(t *testing.T) {
	b := newBed(t)
	b.user("bob")
	b.user("ana")
	b.root(`systemctl list-unit-files --state=enabled --no-legend | sort >/root/enabled`)
	b.install("1.0.0")

	t.Run("nothing is enabled or started", func(t *testing.T) {
		b.root(`systemctl list-unit-files --state=enabled --no-legend | sort | diff /root/enabled - && ! pgrep -x runner`)
		b.root(`systemd-analyze verify /usr/lib/systemd/system/runner@.service; systemctl cat runner@bob.service`)
		if files := b.root(`dpkg --verify runner; dpkg --listfiles runner | grep -E '^/(etc|var|home)' || true`); files != "" {
			t.Errorf("the package has or changed %s", files)
		}
		b.as("bob", `runner version | grep "^runner 1.0.0 " && test -s /usr/share/man/man1/runner-service.1.gz && bash -n /usr/share/bash-completion/completions/runner`)
	})

	b.key("bob")
	b.as("bob", `runner service install --project 7c1e --dir shop --api-url http://127.0.0.1:9`)
	b.key("ana")
	b.as("ana", `mkdir -p .config/runner && mv shop/* . && printf '{"base": "/home/ana/projects", "api_url": "http://127.0.0.1:9"}' >.config/runner/config.json`)
	b.root(`systemctl enable --now runner@ana.service`)

	t.Run("the template serves the user it is named after", func(t *testing.T) {
		b.root(`test "$(ps -o user= -p $(systemctl show --property=MainPID --value runner@ana.service))" = ana`)
	})
	t.Run("two people can't read each other's state", func(t *testing.T) {
		// A home that others may enter, as some systems make them: our own folders must not rely on it.
		b.root(`chmod 755 /home/ana /home/ana/.local /home/ana/.local/state /home/bob /home/bob/.local /home/bob/.local/state`)
		for _, c := range []struct{ who, whose string }{{"bob", "ana"}, {"ana", "bob"}} {
			b.root(`test -n "$(find /home/` + c.whose + `/.local/state/runner -name journal.lock)" && test -n "$(find /home/` + c.whose + `/.local/state/runner -type s)"`)
			b.as(c.who, `! ls /home/`+c.whose+`/.local/state/runner`)
			out := b.root(`for f in $(find /home/` + c.whose + `/.local/state/runner); do runuser -u ` + c.who + ` -- test -r $f && echo $f; done; true`)
			if out != "" {
				t.Errorf("%s can read %s", c.who, out)
			}
			if out, code := b.try(c.who, `XDG_STATE_HOME=/home/`+c.whose+`/.local/state runner status`); code == 0 || strings.Contains(out, "is running") {
				t.Errorf("%s asked the daemon of %s: exit code %d, %s", c.who, c.whose, code, out)
			}
		}
	})
	t.Run("an upgrade starts anew what runs, and nothing else", func(t *testing.T) {
		b.as("bob", mainPID("runner-7c1e")+` >pid; find .local/state/runner -name '*.db' | xargs stat -c '%i %n' >state; test -s state`)
		b.root(`systemctl show --property=MainPID --value runner@ana.service >/root/pid`)
		b.install("1.0.1")
		pid := strings.TrimSpace(b.as("bob", `old=$(cat pid); `+newPID("runner-7c1e")+`; echo $new`))
		b.root("/proc/" + pid + `/exe version | grep "^runner 1.0.1 "`)
		b.until("root", `new=$(systemctl show --property=MainPID --value runner@ana.service) && [ "$new" != 0 ] && [ "$new" != "$(cat /root/pid)" ]`)
		b.as("bob", `xargs -n 2 sh -c 'test "$(stat -c %i "$1")" = "$0"' <state`)
		if n := strings.TrimSpace(b.root(`pgrep -c -x runner`)); n != "2" {
			t.Errorf("%s daemons run", n)
		}
	})
	t.Run("removal stops what runs and keeps all state", func(t *testing.T) {
		b.root(`dpkg --remove runner && ! pgrep -x runner && ! test -e /usr/bin/runner`)
		b.as("bob", `test -e .config/systemd/user/runner-7c1e.service && xargs -n 2 sh -c 'test "$(stat -c %i "$1")" = "$0"' <state`)
		// A login finds the unit without its program, and passes over it.
		b.as("bob", `export XDG_RUNTIME_DIR=/run/user/$(id -u); systemctl --user daemon-reload; systemctl --user start runner-7c1e.service &&
test "$(systemctl --user show --property=ActiveState --value runner-7c1e.service)" = inactive`)
	})
	t.Run("installed again, it goes on", func(t *testing.T) {
		b.install("1.0.1")
		b.as("bob", `runner service start --project 7c1e && runner service status --project 7c1e`)
	})
	t.Run("the scripts with the words of rpm", func(t *testing.T) { b.rpmScripts("bob", "runner-7c1e") })
	t.Run("purge removes the state of all, and nothing through a link", func(t *testing.T) {
		b.root(`mkdir /root/precious /root/precious/runner && touch /root/precious/runner/file && useradd --create-home eve && ln -s /root/precious /home/eve/.config && chmod 755 /root`)
		b.root(`dpkg --purge runner && ! pgrep -x runner`)
		b.root(`! find /home -path '*runner*' -not -path '/home/bob/shop/*' -not -name 'brabo-runner*' | grep .`)
		b.root(`test -e /root/precious/runner/file`)
		// The keys of the existing client are in people's project folders, and theirs.
		b.root(`test -e /home/bob/shop/brabo-runner-device-key.jwk.json && systemctl is-system-running | grep -E 'running|degraded'`)
	})
}

// key gives a user a project folder with a device key that no server knows.
func (b *bed) key(user string) {
	b.t.Helper()
	b.as(user, `mkdir shop && printf %s '`+deviceKey+`' >shop/brabo-runner-device-key.jwk.json`)
}

// rpmScripts runs the packages' scripts as rpm does, which gives them the number of versions that remain: a first
// installation and the removal of an old version leave a user's service alone, a new version starts it anew, and the last
// one's removal stops it.
func (b *bed) rpmScripts(user, unit string) {
	b.t.Helper()
	for _, name := range []string{"postinstall.sh", "preremove.sh", "postremove.sh"} {
		b.put("scripts/"+name, "/root/"+name)
	}
	b.as(user, "old=0; "+newPID(unit)+"; echo $new >pid")
	b.root("sh /root/postinstall.sh 1 && sh /root/preremove.sh 1 && sh /root/postremove.sh 1")
	b.as(user, mainPID(unit)+" | diff pid -")
	b.root("sh /root/postinstall.sh 2")
	b.as(user, "old=$(cat pid); "+newPID(unit)+"; test -d .local/state/runner")
	b.root("sh /root/preremove.sh 0 && ! pgrep -x runner && sh /root/postremove.sh 0")
	b.as(user, "test -e .config/systemd/user/"+unit+".service && test -d .local/state/runner")
}
