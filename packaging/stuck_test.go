package main

// stuck has a user's daemon, joined with the project shop, stand still in the midst of an action: its log is a pipe that is
// full and that nobody reads. The manager's watchdog ends it; once the log takes lines again, the action that was approved
// meanwhile has run, once.
func (b *bed) stuck(user string) {
	b.t.Helper()
	const log = `.local/state/runner/log/runner.log`
	const systemctl = `XDG_RUNTIME_DIR=/run/user/$(id -u) systemctl --user `
	b.as(user, `set -e; mkdir -p .config/systemd/user/runner.service.d
printf '[Service]\nWatchdogSec=4\nTimeoutAbortSec=2\n' >.config/systemd/user/runner.service.d/short.conf; `+systemctl+`daemon-reload
`+systemctl+`stop runner.service && mv `+log+` kept.log && mkfifo -m 600 `+log+`
setsid bash -c 'exec 3<>`+log+`; echo $$ >holder; exec sleep infinity' </dev/null >/dev/null 2>&1 &
until test -s holder; do sleep 0.2; done; `+systemctl+`start runner.service`)
	b.until(user, `runner project list | grep served`)
	b.as(user, `old=0; `+newPID("runner")+`; echo $new >pid; ! dd if=/dev/zero of=`+log+` oflag=nonblock bs=4096 2>dd && grep -i "temporarily unavailable" dd`)
	b.approved(user, "stuck", `echo once >>stuck`)
	b.until(user, `! test -e /proc/$(cat pid)`)
	b.root(`journalctl --no-pager | grep "runner.service: Watchdog timeout"`)
	b.as(user, `set -e; kill $(cat holder); rm -r `+log+` .config/systemd/user/runner.service.d; mv kept.log `+log+`; `+systemctl+`daemon-reload
old=$(cat pid); `+newPID("runner"))
	b.until(user, `test -s stuck.code`)
	b.as(user, `grep -x 0 stuck.code && test "$(cat shop/stuck)" = once && runner project list | grep served`)
}
