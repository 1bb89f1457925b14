package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/settings"
)

// smallDisk mounts a disk of size bytes in memory and makes a daemon keep its state there.
func smallDisk(t *testing.T, size int) (disk string, use func(*exec.Cmd)) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting a small disk needs root")
	}
	disk = t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size)); err != nil {
		if os.Getenv("RUNNER_TEST_REQUIRE") == "1" {
			t.Fatalf("mounting a small disk: %v", err)
		}
		t.Skipf("a small disk can't be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return disk, func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+disk, "RUNNER_JOURNAL_RESERVE=2MiB", "RUNNER_OUTPUT_SPOOL=0")
	}
}

// fillDisk takes all the room that is left, and tells the file that does.
func fillDisk(t *testing.T, disk string) string {
	t.Helper()
	path := filepath.Join(disk, "somebody else's")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 4096); ; {
		if _, err := f.Write(block); errors.Is(err, syscall.ENOSPC) {
			return path
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// Mounts a small disk.
func TestRootFullStateDiskRefusesNewWorkAndReportsWhatRuns(t *testing.T) {
	home := inHome(t)
	h, url, root, _ := startHub(t, home)
	disk, use := smallDisk(t, 8<<20)
	p := startProcess(t, home, root, url, use)
	awaitRunner(t, h)
	var running []string
	for i := range 4 { // 32 KiB of output each: their results need the reserve
		running = append(running, proposeText(t, h, fmt.Sprintf("touch started%d; while [ ! -e go ]; do sleep 0.01; done; head -c 32000 /dev/zero | tr '\\0' x", i)))
	}
	for i := range running {
		awaitFileExists(t, filepath.Join(root, fmt.Sprint("started", i)))
	}
	theirs := fillDisk(t, disk)
	refused := awaitRefusal(t, h)
	letGo(t, root, nil)
	for _, id := range running {
		if a := awaitAction(t, h, id); a.Status != hub.Executed || len(a.Outcome.Output) != 32000 {
			t.Errorf("%s, %d bytes, %v", a.Status, len(a.Outcome.Output), a.Outcome.Failure)
		}
	}
	failuretest.Produced(t, refused.Outcome.Failure, failure.DiskFull)
	s := awaitStatusIn(t, filepath.Join(disk, "runner"), func(s control.Status) bool { return len(s.Health) > 0 })
	failuretest.Produced(t, s.Health[0].Failure, failure.DiskFull)

	// The log lies on the same disk; it lost lines and nothing else. With room again all goes on by itself.
	if err := os.Remove(theirs); err != nil {
		t.Fatal(err)
	}
	awaitExecuted(t, h)
	p.signal(t, syscall.SIGTERM)
	p.wait(t, exitOK)
	if line := p.lastLine(t); !strings.Contains(line, "undelivered=0") {
		t.Error(line)
	}
}

// awaitRefusal proposes commands until one is refused: what fills the disk up may leave room for a few.
func awaitRefusal(t *testing.T, h *hub.Hub) hub.Action {
	t.Helper()
	for range 10_000 {
		if a := awaitAction(t, h, proposeText(t, h, "true")); a.Status != hub.Executed {
			return a
		}
	}
	t.Fatal("a full disk refuses nothing")
	return hub.Action{}
}

// awaitExecuted proposes commands until one is executed: the reserve is not filled again in each moment.
func awaitExecuted(t *testing.T, h *hub.Hub) {
	t.Helper()
	for range 10_000 {
		if a := awaitAction(t, h, proposeText(t, h, "sleep 0.05")); a.Status == hub.Executed {
			return
		}
	}
	t.Fatal("a disk with room refuses everything")
}

// Mounts a small disk.
func TestRootStateDiskThatTakesNothingFromTheStartIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, disk string)
		want  failure.Name
	}{
		"full": {func(t *testing.T, disk string) { fillDisk(t, disk) }, failure.DiskFull},
		"read-only": {func(t *testing.T, disk string) {
			if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
				t.Fatal(err)
			}
		}, failure.JournalUnwritable},
	} {
		t.Run(name, func(t *testing.T) {
			home := inHome(t)
			_, url, root, _ := startHub(t, home)
			disk, use := smallDisk(t, 1<<20)
			c.spoil(t, disk)
			p := startProcess(t, home, root, url, use)
			p.wait(t, exitFail)
			text, err := os.ReadFile(p.log.Name())
			if err != nil || !strings.Contains(string(text), "runner: "+string(c.want)) {
				t.Errorf("%v\n%s", err, text)
			}
			failuretest.Produced(t, c.want, c.want)
		})
	}
}

func TestLogThatTakesNothingDoesNotDisturbTheDaemon(t *testing.T) {
	home := inHome(t)
	h, url, root, _ := startHub(t, home)
	logs := logFolder(stateFolder(settings.Folders{State: stateOf(home)}, "p"))
	if err := os.MkdirAll(filepath.Dir(logs), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(logs, nil, 0o600); err != nil { // in place of its folder
		t.Fatal(err)
	}
	p := startProcess(t, home, root, url)
	awaitRunner(t, h)
	awaitExecuted(t, h)
	awaitLog(t, p, `"there is no log file"`)
}
