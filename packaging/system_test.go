package main

import (
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// TestRootSystemServiceOnSystemd needs a container with a real systemd: an administrator installs a service of the system
// for a person who has no session, and it runs as that person.
func TestRootSystemServiceOnSystemd(t *testing.T) {
	b := newBed(t)
	b.root(`useradd --create-home --shell /bin/bash ana`)
	b.install("1.0.0")
	b.key("ana")
	b.as("ana", `mkdir -p .config/runner && mv shop/* .config/runner/ && printf '{"base": "/home/ana/projects", "api_url": "http://127.0.0.1:9"}' >.config/runner/config.json`)
	const install = `cd /home/ana/.config/runner && runner service install --system --as-user ana`
	const main = `systemctl show --property=MainPID --value runner.service`

	t.Run("not as root, and not by an ordinary user", func(t *testing.T) {
		for _, script := range []struct{ who, script string }{
			{"root", "runner service install --system --as-user root"},
			{"root", "runner service install --system"},
			{"root", "runner service install --system --as-user nobody-of-this-name"},
			{"ana", "runner service install --system --as-user ana"},
		} {
			out := strings.ReplaceAll(b.code(script.who, script.script, 2), "runner: refused: ", "runner: ")
			failuretest.Produced(t, nameIn(t, out), failure.ServiceAccount)
		}
		b.root(`! test -e /etc/systemd/system/runner.service`)
	})
	b.root(install)
	t.Run("it runs as the person it is named after", func(t *testing.T) {
		b.root(`test "$(ps -o user= -p $(` + main + `))" = ana && systemctl is-enabled runner.service && runner service status --system`)
		b.root(`pid=$(` + main + `) && tr '\0' '\n' </proc/$pid/environ | grep -x HOME=/home/ana && grep -E '^CapEff:\s*0+$' /proc/$pid/status`)
		b.root(`test -z "$(find /home/ana ! -user ana)" && test -n "$(find /home/ana/.local/state/runner -name journal.lock)" && ! test -e /root/.local/state/runner`)
		b.as("ana", `runner status --json | grep -F '"pid":'`)
	})
	t.Run("killed, it comes back", func(t *testing.T) {
		b.root(`old=$(` + main + `) && kill -9 $old && until new=$(` + main + `) && [ "$new" != 0 ] && [ "$new" != "$old" ]; do sleep 0.2; done`)
	})
	t.Run("removed, it keeps what is ana's", func(t *testing.T) {
		b.root(`runner service uninstall --system --machine && ! test -e /etc/systemd/system/runner.service && ! pgrep -x runner && test -e /home/ana/.config/runner/config.json`)
		b.code("root", "runner service status --system", 4)
	})
	t.Run("purged, nothing stays", func(t *testing.T) {
		b.root(`cp -a /home/ana/.config/runner /home/ana/again && ` + install + ` && runner service uninstall --system --machine --purge`)
		b.root(`! find /home/ana -name runner | grep . && cp -a /home/ana/again /home/ana/.config/runner`)
	})
	t.Run("purged, it follows no link of ana's", func(t *testing.T) {
		b.root(install + ` && runner service stop --system && mkdir -p /root/precious/runner && touch /root/precious/runner/file`)
		b.root(`mv /home/ana/.local/state /home/ana/state && ln -s /root/precious /home/ana/.local/state`)
		out := b.code("root", `runner service uninstall --system --machine --purge`, 1)
		failuretest.Produced(t, nameIn(t, out), failure.ServiceNotWritten)
		b.root(`test -e /root/precious/runner/file && ! test -e /home/ana/.config/runner && ! test -e /etc/systemd/system/runner.service`)
	})
}
