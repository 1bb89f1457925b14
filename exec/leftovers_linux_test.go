package exec

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// doomedMark names the mark of what a doomed daemon runs.
const doomedMark = "EXEC_TEST_MARK"

// doomedConfined names the folder that what a doomed daemon runs is confined to.
const doomedConfined = "EXEC_TEST_CONFINED"

// doomedDaemon is a daemon that runs text until it is killed: what TestMain makes of the test binary for killDaemon.
func doomedDaemon(text string) {
	shell, err := FindShell(nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var bounds Bounds
	if os.Getenv(doomedConfined) != "" {
		bounds = Bounds{Helper: []string{os.Args[0], asBetween}, Confine: &Confine{Write: []string{os.Getenv(doomedConfined)}}}
	}
	Run(context.Background(), Command{
		Bounds: bounds,
		Text:   text, Shell: shell, Dir: os.TempDir(), Env: os.Environ(), ResultLimit: 1000,
		Mark:    os.Getenv(doomedMark),
		Observe: func(chunk []byte) { os.Stdout.Write(chunk) },
		Started: func(pid int, identity string) { fmt.Println("started", pid, identity) },
	})
	os.Exit(0)
}

// killDaemon runs text under a daemon of its own, waits until it has printed the pids that it was asked for, and kills
// the daemon. It gives the shell, its identity and those pids.
func killDaemon(t *testing.T, text string, want int) (shell int, identity string, pids []int) {
	t.Helper()
	cmd := osexec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), doomed+"="+text)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for (len(pids) < want || identity == "") && lines.Scan() {
		var pid int
		if _, err := fmt.Sscanf(lines.Text(), "started %d %s", &shell, &identity); err == nil {
			continue
		}
		if _, err := fmt.Sscanf(lines.Text(), "pid %d", &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if len(pids) < want || identity == "" {
		t.Fatalf("the daemon said too little: shell %d %q, pids %v", shell, identity, pids)
	}
	return shell, identity, pids
}

func runs(pid int) bool {
	p, ok := readProcess(pid)
	return ok && !p.zombie
}

// Needs bash and a kernel with Landlock.
func TestTemporaryFilesOfAKilledDaemonsCommandGo(t *testing.T) {
	systemBash(t)
	if _, err := Confinement(); err != nil {
		missing(t, "Landlock: "+err.Error())
	}
	for name, end := range map[string]func(shell int, identity string) (int, error){
		"by what was noted": func(shell int, identity string) (int, error) {
			return EndLeftovers(context.Background(), shell, identity)
		},
		"of another boot": func(shell int, identity string) (int, error) {
			_, rest, _ := strings.Cut(identity, ":")
			return EndLeftovers(context.Background(), shell, "another:"+rest)
		},
		"by the mark": func(int, string) (int, error) { return EndMarked(context.Background(), "a-mark/of-no-file") },
	} {
		t.Run(name, func(t *testing.T) {
			temporary := t.TempDir()
			t.Setenv("TMPDIR", temporary)
			t.Setenv(doomedMark, "a-mark/of-no-file")
			t.Setenv(doomedConfined, t.TempDir())
			others := filepath.Join(temporary, scratchPrefix("another mark")+"1")
			if err := os.Mkdir(others, 0o700); err != nil {
				t.Fatal(err)
			}
			shell, identity, _ := killDaemon(t, `echo kept >$TMPDIR/file; echo pid $$; sleep 300`, 1)
			if left, _ := filepath.Glob(filepath.Join(temporary, "runner-command-*", "file")); len(left) != 1 {
				t.Fatalf("it had no folder of its own: %v", left)
			}
			if _, err := end(shell, identity); err != nil {
				t.Error(err)
			}
			if left, _ := filepath.Glob(filepath.Join(temporary, "runner-command-*")); len(left) != 1 || left[0] != others {
				t.Errorf("there are %v, and should be the other command's alone", left)
			}
			if _, err := EndLeftovers(context.Background(), shell, identity); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLeftoversOfAKilledDaemonAreEnded(t *testing.T) {
	systemBash(t)
	for name, text := range map[string]string{
		"in the shell's group":    `sleep 300 & echo pid $!; echo pid $$; wait`,
		"ignoring TERM":           `bash -c 'trap "" TERM; echo pid $$; while :; do sleep 1; done' & echo pid $$; wait`,
		"in a session of its own": `setsid bash -c 'echo pid $$; sleep 300' & echo pid $$; wait`,
		"whose shell has ended":   `(setsid bash -c 'echo pid $$; sleep 300' &) ; (bash -c 'echo pid $$; exec sleep 300' &); sleep 300`,
	} {
		t.Run(name, func(t *testing.T) {
			shell, identity, pids := killDaemon(t, text, 2)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			ended, err := EndLeftovers(ctx, shell, identity)
			if err != nil || ended < 2 {
				t.Errorf("ended %d, %v", ended, err)
			}
			for _, pid := range pids {
				if runs(pid) {
					t.Errorf("%d still runs", pid)
				}
			}
		})
	}
}

func TestStrangersAreNotEnded(t *testing.T) {
	stranger := osexec.Command("sleep", "300")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = stranger.Process.Kill()
		_ = stranger.Wait()
	}()
	pid := stranger.Process.Pid
	boot, start, _ := strings.Cut(Identity(pid), ":")
	ticks, err := strconv.ParseUint(start, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	for name, identity := range map[string]string{
		"a number that was given again": fmt.Sprintf("%s:%d:MARK", boot, ticks-1),
		"another boot":                  fmt.Sprintf("another-boot:%d:MARK", ticks),
	} {
		if ended, err := EndLeftovers(context.Background(), pid, identity); ended != 0 || err != nil {
			t.Errorf("%s: ended %d, %v", name, ended, err)
		}
	}
	for _, identity := range []string{"", "x", "a:b:c", boot + ":1:"} {
		if ended, err := EndLeftovers(context.Background(), pid, identity); ended != 0 || err == nil {
			t.Errorf("%q: ended %d, %v", identity, ended, err)
		}
	}
	if !runs(pid) {
		t.Error("a stranger was ended")
	}
}

func TestEndMarkedFindsWhatNobodyNoted(t *testing.T) {
	t.Setenv(doomedMark, "m"+rand.Text())
	shell, _, pids := killDaemon(t, `echo pid $$; setsid sh -c 'echo pid $$; exec sleep 300' & wait`, 2)
	if _, err := EndMarked(t.Context(), ""); err == nil {
		t.Error("an empty mark was taken")
	}
	if n, err := EndMarked(t.Context(), "another"); n != 0 || err != nil {
		t.Errorf("%d of another mark, %v", n, err)
	}
	n, err := EndMarked(t.Context(), os.Getenv(doomedMark))
	if n < 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	for _, pid := range append(pids, shell) {
		if runs(pid) {
			t.Errorf("%d still runs", pid)
		}
	}
}
