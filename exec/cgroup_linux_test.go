package exec

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// delegatedCgroup is the test's own, where systemd has delegated it one of version 2.
func delegatedCgroup(t *testing.T) *Cgroup {
	t.Helper()
	if err := KernelKeepsLimits(); err != nil {
		t.Skipf("needs a unit with Delegate=memory pids: %v", err)
	}
	own, err := ClaimCgroup()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cells, _ := filepath.Glob(filepath.Join(own.folder, cellPrefix+"*")); len(cells) > 0 {
			t.Errorf("left behind: %v", cells)
		}
	})
	return own
}

// Needs bash, coreutils and util-linux, and a cgroup of version 2 that systemd has delegated to the test.
func TestKernelKeepsTheLimitsOfACommand(t *testing.T) {
	own := delegatedCgroup(t)
	left := filepath.Join(own.folder, cellPrefix+"left")
	if err := os.Mkdir(left, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := ClaimCgroup(); err != nil {
		t.Fatalf("claimed again: %v", err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("what an earlier daemon left is still there: %v", err)
	}
	for name, tc := range map[string]struct {
		text   string
		limits Limits
	}{
		"a bomb":                  {`bomb() { bomb & bomb & sleep 60; }; bomb`, Limits{Processes: 40}},
		"a bomb of sessions":      {`for i in {1..200}; do setsid sleep 60 & done; sleep 60`, Limits{Processes: 40}},
		"one that fills memory":   {`{ head -c 300000000 /dev/zero; sleep 60; } | tail`, Limits{Memory: 64 << 20}},
		"one that fills /dev/shm": {`f=$(mktemp -p /dev/shm); exec 3>$f; rm $f; head -c 300000000 /dev/zero >&3`, Limits{Memory: 64 << 20}},
	} {
		for _, c := range []Command{command(t, tc.text), limited(t, tc.text, Limits{OpenFiles: 256})} {
			c.Limits.Processes, c.Limits.Memory, c.Cgroup = tc.limits.Processes, tc.limits.Memory, own
			r := Run(context.Background(), c)
			t.Log(name, r.Failure)
			failuretest.Produced(t, r.Failure, failure.LimitExceeded)
			if r.Survivors > 0 {
				t.Errorf("%s: %d processes were not ended", name, r.Survivors)
			}
		}
	}
	c := command(t, `grep -o command- /proc/self/cgroup; for i in {1..8}; do sleep 0.3 & done; wait`)
	c.Limits, c.Cgroup = Limits{Processes: 40, Memory: 64 << 20}, own
	must(t, c, 0, "command-\n")
}

// Needs bash and coreutils, and a delegated cgroup of version 2: the threads of the program between are not the command's.
func TestProgramBetweenTakesNothingOfTheCommandsLimits(t *testing.T) {
	own := delegatedCgroup(t)
	const untilAlone = `read -r own </proc/self/cgroup; until read -r most <"/sys/fs/cgroup${own#0::}/pids.max"; [ "$most" = 1 ]; do :; done; `
	for name, c := range map[string]Command{"free": command(t, ``), "bounded": limited(t, ``, Limits{OpenFiles: 256})} {
		c.Limits.Processes, c.Cgroup = 1, own
		c.Text = untilAlone + `echo a`
		if r := Run(context.Background(), c); r.Failure != nil || r.Output != "a\n" {
			t.Errorf("%s: %q, %v", name, r.Output, r.Failure)
		}
		c.Text = untilAlone + `sleep 60 & wait`
		failuretest.Produced(t, Run(context.Background(), c).Failure, failure.LimitExceeded)
	}
}

// Needs bash, coreutils and util-linux, Landlock, and a delegated cgroup of version 2.
func TestKernelKeepsTheLimitsOfAConfinedCommand(t *testing.T) {
	own := delegatedCgroup(t)
	for _, tc := range []struct {
		text   string
		limits Limits
	}{
		{`bomb() { bomb & bomb & sleep 60; }; bomb`, Limits{Processes: 40}},
		{`for i in {1..200}; do setsid sleep 60 & done; sleep 60`, Limits{Processes: 40}},
		{`{ head -c 300000000 /dev/zero; sleep 60; } | tail`, Limits{Memory: 64 << 20}},
	} {
		v := newVictim(t)
		c := v.command(t, tc.text)
		c.Bounds = v.bounds(t, false)
		c.Limits, c.Cgroup = tc.limits, own
		r := Run(context.Background(), c)
		failuretest.Produced(t, r.Failure, failure.LimitExceeded)
		if r.Survivors > 0 {
			t.Errorf("%s: %d processes were not ended", tc.text, r.Survivors)
		}
	}
}

// Needs bash, Landlock and a delegated cgroup of version 2. Each row is tried without confinement first, where it has to
// succeed, or it would show nothing.
func TestConfinedCommandStaysInItsCgroup(t *testing.T) {
	own := delegatedCgroup(t)
	const mine = `"/sys/fs/cgroup$(sed 's/^0:://' /proc/self/cgroup)"`
	for _, text := range []string{
		`echo $$ >"$OWN"/daemon/cgroup.procs`,
		`mkdir "$OWN"/mine && { echo $$ >"$OWN"/mine/cgroup.procs; code=$?; echo $$ >"$OWN"/daemon/cgroup.procs; rmdir "$OWN"/mine; exit $code; }`,
		`echo max >` + mine + `/pids.max`,
		`echo max >` + mine + `/memory.max`,
	} {
		v := newVictim(t)
		c := v.command(t, text)
		c.Env = append(c.Env, "OWN="+own.folder)
		c.Limits, c.Cgroup = Limits{Processes: 40, Memory: 64 << 20}, own
		if r := Run(context.Background(), c); r.ExitCode != 0 {
			t.Fatalf("%s: nothing needs to stop it: %d, %s, %v", text, r.ExitCode, r.Output, r.Failure)
		}
		c.Bounds = v.bounds(t, false)
		c.Limits, c.Cgroup = Limits{Processes: 40, Memory: 64 << 20}, own
		if r := Run(context.Background(), c); r.Failure != nil || r.ExitCode == 0 {
			t.Errorf("%s: %d, %s, %v", text, r.ExitCode, r.Output, r.Failure)
		}
	}
}

func TestCgroupOfNoUnitIsNotDelegated(t *testing.T) {
	for _, folder := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup/user.slice/user-1.slice/user@1.service/no-unit-of-ours.scope"} {
		if err := promised(folder); err == nil {
			t.Errorf("%s counts as delegated", folder)
		}
	}
	if m := ofManager("/sys/fs/cgroup/user.slice/user-1.slice/user@1.service/app.slice/runner.service"); m != "--user" {
		t.Error(m)
	}
	if m := ofManager("/sys/fs/cgroup/system.slice/runner.service"); m != "--system" {
		t.Error(m)
	}
}
