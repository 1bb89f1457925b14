package exec

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pids reads the numbers that a command wrote, one a line, into the file called pids of its folder.
func pids(t *testing.T, c Command) []int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.Dir, "pids"))
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, pid)
	}
	return found
}

// gone fails the test if one of pids is there, be it as a zombie.
func gone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		if err := unix.Kill(pid, 0); err != unix.ESRCH {
			stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			t.Errorf("process %d is still there: %s", pid, stat)
		}
	}
}

// end waits for the end of processes.
func end(t *testing.T, pids []int) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for _, pid := range pids {
		for unix.Kill(pid, 0) != unix.ESRCH {
			if time.Now().After(deadline) {
				gone(t, pids)
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// noneSince fails the test if this process has a child that is not among before.
func noneSince(t *testing.T, before []int) {
	t.Helper()
	for _, pid := range children(os.Getpid()) {
		if !slices.Contains(before, pid) {
			t.Errorf("process %d is left", pid)
		}
	}
}

// A daemon as the books have it: fork, setsid, fork again, and nothing of the old environment or pipe is left. It
// writes its pid to the file pids; the command waits until it has.
const (
	daemon    = `(setsid bash -c 'echo $$ >>pids; exec sleep 300' </dev/null >/dev/null 2>&1 &); until [ -s pids ]; do sleep 0.01; done; `
	stubborn  = `(setsid bash -c 'trap "" TERM HUP; echo $$ >>pids; while :; do sleep 300; done' </dev/null >/dev/null 2>&1 &); until [ -s pids ]; do sleep 0.01; done; `
	nameless  = `(env -i setsid /bin/sh -c 'echo $$ >>pids; exec sleep 300' </dev/null >/dev/null 2>&1 &); until [ -s pids ]; do sleep 0.01; done; `
	withHeirs = `(setsid bash -c 'for i in 1 2 3; do setsid bash -c "echo \$\$ >>pids; setsid sleep 300 & wait" & done; wait' </dev/null >/dev/null 2>&1 &); until [ $(wc -l <pids) = 3 ]; do sleep 0.01; done 2>/dev/null; `
)

// Runs real bash and setsid. Not parallel: what has lost its environment is told apart only when no other command runs.
func TestDaemonsEndWithTheCommand(t *testing.T) {
	for name, text := range map[string]string{
		"obedient":             daemon,
		"stubborn":             stubborn,
		"without an environ":   nameless,
		"with heirs":           withHeirs,
		"several":              daemon + `rm pids;` + stubborn,
		"with one in the pipe": daemon + `sleep 300 &`,
	} {
		t.Run(name, func(t *testing.T) {
			before := children(os.Getpid())
			c := command(t, text+` exit 3`)
			res := Run(context.Background(), c)
			if res.ExitCode != 3 || res.Failure != nil || res.Left == 0 || res.Survivors != 0 {
				t.Errorf("%+v", res)
			}
			gone(t, pids(t, c))
			noneSince(t, before)
		})
	}
}

// Runs real bash and setsid.
func TestDaemonsEndAtTheDeadline(t *testing.T) {
	for name, text := range map[string]string{"obedient": daemon, "stubborn": stubborn, "with heirs": withHeirs} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := within(command(t, text+` sleep 300`), 6*time.Second)
			res := Run(context.Background(), c)
			if !res.TimedOut {
				t.Errorf("%+v", res)
			}
			end(t, pids(t, c)) // on a busy machine after the result, which is due by the deadline
		})
	}
}

// Runs real bash and setsid.
func TestParallelCommandsEndTheirOwnDaemons(t *testing.T) {
	var wg sync.WaitGroup
	long := command(t, daemon+`touch ready; until [ -e over ]; do sleep 0.01; done; kill -0 $(cat pids) && echo alive; exit 9`)
	wg.Go(func() {
		if res := Run(context.Background(), long); res.ExitCode != 9 || res.Output != "alive\n" {
			t.Errorf("the long command: %+v", res)
		}
	})
	waitFor(t, filepath.Join(long.Dir, "ready"))
	for range 4 {
		wg.Go(func() {
			c := command(t, daemon+`exit 3`)
			if res := Run(context.Background(), c); res.ExitCode != 3 || res.Left != 1 {
				t.Errorf("a short command: %+v", res)
			}
			gone(t, pids(t, c))
		})
	}
	short := command(t, daemon+`exit 3`)
	Run(context.Background(), short)
	gone(t, pids(t, short))
	if err := os.WriteFile(filepath.Join(long.Dir, "over"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	gone(t, pids(t, long))
}

// Runs real bash and setsid. Whose the nameless daemon is can't be told while both run: the later end takes it along.
func TestNamelessDaemonEndsWithTheLastThatItMayBelongTo(t *testing.T) {
	long := command(t, `touch ready; until [ -e over ]; do sleep 0.01; done`)
	done := make(chan Result, 1)
	go func() { done <- Run(context.Background(), long) }()
	waitFor(t, filepath.Join(long.Dir, "ready"))
	short := command(t, nameless)
	if res := Run(context.Background(), short); res.Left != 0 || res.ExitCode != 0 {
		t.Errorf("the short command: %+v", res)
	}
	if err := os.WriteFile(filepath.Join(long.Dir, "over"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if res := <-done; res.Left != 1 || res.ExitCode != 0 {
		t.Errorf("the long command: %+v", res)
	}
	gone(t, pids(t, short))
}

// waitFor waits until a command made path.
func waitFor(t *testing.T, path string) {
	t.Helper()
	waitUntil(t, path, func() bool { _, err := os.Stat(path); return err == nil })
}

// waitUntil looks again and again whether what has come.
func waitUntil(t *testing.T, what string, came func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	late := time.After(60 * time.Second)
	for !came() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// Runs real bash and setsid.
func TestForkStorm(t *testing.T) {
	for name, text := range map[string]string{
		"in the group":              `storm() { while :; do sleep 0.2 & sleep 0.01; done; }; storm & storm & storm &`,
		"with a session each":       `storm() { while :; do setsid sleep 3 & sleep 0.01; done; }; storm & storm &`,
		"that moves on and on":      `cat >comet <<'E'` + "\nsleep 0.02; setsid bash ./comet & exit\nE\n" + `setsid bash ./comet & sleep 0.1`,
		"that grows":                `cat >tree <<'E'` + "\n[ $1 -gt 0 ] || exec sleep 300; setsid bash ./tree $(($1-1)) & setsid bash ./tree $(($1-1)) & wait\nE\n" + `setsid bash ./tree 5 & sleep 0.1`,
		"that ignores and respawns": `cat >phoenix <<'E'` + "\ntrap '' TERM; while :; do setsid bash -c 'trap \"\" TERM; exec sleep 300' & wait; done\nE\n" + `setsid bash ./phoenix & setsid bash ./phoenix & sleep 0.1`,
	} {
		t.Run(name, func(t *testing.T) {
			before := children(os.Getpid())
			c := command(t, text+"\nexit 3")
			res := Run(context.Background(), c)
			if res.ExitCode != 3 || res.Failure != nil || res.Survivors != 0 {
				t.Errorf("%+v", res)
			}
			noneSince(t, before)
			t.Logf("%d were left, all over after %v", res.Left, res.Duration)
		})
	}
}

// Runs real bash.
func TestCancelAfterTheShellEndedKeepsItsCode(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := command(t, `(while kill -0 $$; do :; done; echo gone; sleep 300) 2>/dev/null & exit 7`)
	c.linger = time.Minute
	c.Observe = func([]byte) { cancel() }
	res := Run(ctx, c)
	if res.ExitCode != 7 || res.Failure != nil || res.Cancelled || res.Output != "gone\n" {
		t.Errorf("%+v", res)
	}
}

// Runs real bash.
func TestChildrenOfOtherRoomsAreLeftAlone(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	other, err := os.StartProcess("/bin/sleep", []string{"sleep", "300"}, &os.ProcAttr{Files: []*os.File{null, null, null}})
	if err != nil {
		t.Fatal(err)
	}
	if res := must(t, command(t, `sleep 300 & exit 3`), 3, ""); res.Left != 1 {
		t.Errorf("%+v", res)
	}
	if err := other.Kill(); err != nil {
		t.Errorf("a child that is none of a command's: %v", err)
	}
	must(t, command(t, `sleep 300 & exit 3`), 3, "")
	state, err := other.Wait()
	if err != nil || state.Exited() {
		t.Errorf("its status was stolen: %v, %v", state, err)
	}
}

// Runs real bash.
func TestChildrenWithoutTheKernelsList(t *testing.T) {
	c := command(t, `sleep 300 & sleep 300 & : >ready; wait`)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	shell := make(chan int, 1)
	c.Started = func(pid int, _ string) { shell <- pid }
	done := make(chan Result, 1)
	go func() { done <- Run(ctx, c) }()
	waitFor(t, filepath.Join(c.Dir, "ready"))
	pid := <-shell
	if listed, scanned := children(pid), childrenByParent(pid); len(listed) != 2 || fmt.Sprint(listed) != fmt.Sprint(scanned) {
		t.Errorf("listed %v, scanned %v", listed, scanned)
	}
	cancel()
	<-done
}

// Runs real bash, in a process that is no reaper: the group is ended all the same, with nothing left for the system.
func TestWithoutBecomingSubreaper(t *testing.T) {
	if os.Getenv(noReaper) == "" {
		again := exec.Command(os.Args[0], "-test.run=^TestWithoutBecomingSubreaper$", "-test.v")
		again.Env = append(os.Environ(), noReaper+"=1")
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	for _, text := range []string{
		`echo $$ >pids`,
		`sleep 300 & echo $! >pids`,
		`sleep 300 >/dev/null 2>&1 & echo $! >pids`,
		`(trap '' TERM; echo $BASHPID >pids; sleep 300; sleep 300) & until [ -s pids ]; do sleep 0.01; done`,
	} {
		c := command(t, text+"; exit 3")
		must(t, c, 3, "")
		for _, pid := range pids(t, c) {
			waitUntil(t, fmt.Sprintf("the end of process %d", pid), func() bool {
				p, there := readProcess(pid) // whoever adopted it may not have collected it
				return !there || p.zombie
			})
		}
	}
	c := within(command(t, `sleep 300`), 4*time.Second)
	if res := Run(context.Background(), c); !res.TimedOut {
		t.Errorf("%+v", res)
	}
}
