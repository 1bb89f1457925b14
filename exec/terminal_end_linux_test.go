package exec

import (
	"maps"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// numbers are pids as a terminal's programs wrote them.
func numbers(t *testing.T, words []string) []int {
	t.Helper()
	var all []int
	for _, word := range words {
		n, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

// What a terminal may leave behind: a job in the background and one that is stopped, each in a group of its own, one
// that no hang-up impresses, and one that left the session.
var leavings = map[string]string{
	"job":      `sleep 300 & echo $! >pids` + "\n",
	"stopped":  `bash -c 'echo $$ >pids; kill -STOP $$; sleep 300'` + "\n",
	"nohup":    `nohup sleep 300 >/dev/null 2>&1 & echo $! >pids` + "\n",
	"stubborn": `bash -c 'trap "" HUP TERM; echo $$ >pids; while :; do sleep 300; done'` + "\n",
	"daemon":   `setsid bash -c 'echo $$ >pids; exec sleep 300' </dev/null >/dev/null 2>&1` + "\n",
}

// withoutReaper is leavings as far as a process that adopts nothing can end them: what left the session is found by its
// environment alone, which a program has not at the moment in which it becomes another.
func withoutReaper() map[string]string {
	all := maps.Clone(leavings)
	if os.Getenv(noReaper) != "" {
		delete(all, "daemon")
	}
	return all
}

// Runs real bash and setsid.
func TestCloseEndsEverythingInTheTerminal(t *testing.T) {
	for name, text := range withoutReaper() {
		t.Run(name, func(t *testing.T) {
			before := children(os.Getpid())
			s := sit(t)
			s.types(t, text)
			pids := numbers(t, s.waitForText(t, "pids"))
			s.Close()
			if exit := s.Wait(); exit.Survivors != 0 || exit.ExitCode >= 0 && exit.Signal != "" {
				t.Errorf("%+v", exit)
			}
			dead(t, pids)
			noneSince(t, before)
		})
	}
}

// Runs real bash and setsid.
func TestShellThatEndsTakesEverythingAlong(t *testing.T) {
	for name, text := range withoutReaper() {
		if name == "stubborn" || name == "stopped" {
			continue // the shell waits for it, or asks what to do with it
		}
		t.Run(name, func(t *testing.T) {
			before := children(os.Getpid())
			s := sit(t)
			if name == "daemon" {
				text = strings.TrimSpace(text) + " &\n"
			}
			s.types(t, text)
			pids := numbers(t, s.waitForText(t, "pids"))
			s.types(t, "echo last words; exit 4\n")
			if out := s.ends(t); !strings.Contains(out, "\nlast words\r\n") {
				t.Errorf("the output ends with %q", out)
			}
			if exit := s.Wait(); exit.ExitCode != 4 || exit.Survivors != 0 {
				t.Errorf("%+v", exit)
			}
			dead(t, pids)
			noneSince(t, before)
		})
	}
}

// TestShellThatMissesAHangUpHearsTheNext has a shell take no notice of the first. Runs real bash.
func TestShellThatMissesAHangUpHearsTheNext(t *testing.T) {
	s := sit(t, func(o *TerminalOptions) { o.Grace = time.Hour })
	s.types(t, `exec bash -c 'trap "trap - HUP" HUP; trap "" TERM; echo $$ >pids; while :; do sleep 0.01; done'`+"\n")
	s.waitForText(t, "pids")
	s.Close()
	if exit := s.Wait(); exit.Signal != "SIGHUP" {
		t.Errorf("%+v", exit)
	}
}

// Runs real bash.
func TestShellThatIsKilledIsToldSo(t *testing.T) {
	s := sit(t)
	s.types(t, "kill -KILL $$\n")
	s.ends(t)
	if exit := s.Wait(); exit != (Exit{ExitCode: -1, Signal: "SIGKILL"}) {
		t.Errorf("%+v", exit)
	}
}

// Runs real bash and setsid, in a process that adopts no orphans.
func TestTerminalsEndWithoutAReaper(t *testing.T) {
	if os.Getenv(noReaper) != "" {
		t.Skip("this is such a process")
	}
	test := exec.Command(os.Args[0], "-test.run=^(TestCloseEndsEverythingInTheTerminal|TestShellThatEndsTakesEverythingAlong)$")
	test.Env = append(os.Environ(), noReaper+"=1")
	if out, err := test.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// dead fails the test if one of pids lives. In a process that adopts nothing, a zombie is its parent's to collect.
func dead(t *testing.T, pids []int) {
	t.Helper()
	if os.Getenv(noReaper) == "" {
		gone(t, pids)
		return
	}
	for _, pid := range pids {
		if p, ok := readProcess(pid); ok && !p.zombie && unix.Kill(pid, 0) != unix.ESRCH {
			t.Errorf("process %d is still there", pid)
		}
	}
}
