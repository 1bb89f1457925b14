package exec

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// Needs bash, coreutils and util-linux, and a cgroup of version 2 that systemd has delegated to the test.
func TestKernelKeepsTheLimitsOfACommand(t *testing.T) {
	if err := KernelKeepsLimits(); err != nil {
		t.Skipf("needs a unit with Delegate=memory pids: %v", err)
	}
	first, err := ClaimCgroup()
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(first.folder, cellPrefix+"left")
	if err := os.Mkdir(left, 0o755); err != nil {
		t.Fatal(err)
	}
	own, err := ClaimCgroup()
	if err != nil {
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
	if cells, _ := filepath.Glob(filepath.Join(own.folder, cellPrefix+"*")); len(cells) > 0 {
		t.Errorf("left behind: %v", cells)
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
