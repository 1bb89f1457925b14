package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// smallDisk mounts a disk of size bytes in memory. It needs root.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting a small disk needs root")
	}
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size)); err != nil {
		if os.Getenv("RUNNER_TEST_REQUIRE") == "1" {
			t.Fatalf("mounting a small disk: %v", err)
		}
		t.Skipf("a small disk can't be mounted here: %v", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(folder, syscall.MNT_DETACH)) })
	return folder
}

// fillUp takes all room that is left on the disk of folder and tells the file that does.
func fillUp(t *testing.T, folder string) string {
	t.Helper()
	path := filepath.Join(folder, "somebody else's")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	must(t, err)
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
func TestRootFullDiskRefusesNewWorkAndKeepsTheResultsOfRunning(t *testing.T) {
	disk := smallDisk(t, 8<<20)
	o := ordinary(t)
	now := time.Now()
	o.Now = func() time.Time { return now }
	o.Folder, o.Reserve = filepath.Join(disk, "state"), 2<<20
	j := open(t, o)
	running := 20
	for i := range running {
		a := command(fmt.Sprint("running", i), "make")
		receive(t, j, a)
		must(t, j.Begin(a.Key))
	}
	waiting := command("waiting", "make")
	receive(t, j, waiting)
	theirs := fillUp(t, disk)
	if known := receive(t, j, command("running0", "make")); known != Running { // the reserve is still held
		t.Errorf("a full disk hides what runs: %v", known)
	}

	text := strings.Repeat("x", 32<<10)
	for i := range running {
		must(t, j.Finish(key(fmt.Sprint("running", i)), result(text)))
	}
	if n := len(outbox(t, j)); n != running {
		t.Errorf("%d results were kept of %d", n, running)
	}
	_, err := j.Receive(command("new", "make"))
	failuretest.Produced(t, err, failure.DiskFull)
	failuretest.Produced(t, j.Begin(waiting.Key), failure.DiskFull)
	if known := receive(t, j, command("running0", "make")); known != Finished {
		t.Errorf("a full disk hides what is known: %v", known)
	}

	must(t, j.Close())
	fillUp(t, disk)
	j = open(t, o) // a restart does not change that
	if n := len(outbox(t, j)); n != running || j.Replaced() != nil {
		t.Errorf("%d results after the restart, %v", n, j.Replaced())
	}
	now = now.Add(time.Minute)
	_, err = j.Receive(command("new", "make"))
	failuretest.Produced(t, err, failure.DiskFull)
	must(t, os.Remove(theirs))
	now = now.Add(time.Minute)
	receive(t, j, command("new", "make"))
	must(t, j.Begin(waiting.Key))
	if info, err := os.Stat(j.path(reserveName)); err != nil || info.Size() != o.Reserve {
		t.Errorf("the reserve was not made again: %v", err)
	}
	must(t, j.Close())
	j = open(t, o)
	if n := len(outbox(t, j)); n != running || j.Replaced() != nil {
		t.Errorf("%d results after the restart, %v", n, j.Replaced())
	}
}

// Mounts a small disk.
func TestRootDiskThatIsFullFromTheStartIsNamed(t *testing.T) {
	disk := smallDisk(t, 1<<20)
	o := ordinary(t)
	o.Folder = filepath.Join(disk, "state")
	must(t, os.Mkdir(o.Folder, 0o700))
	theirs := fillUp(t, disk)
	_, err := Open(o)
	failuretest.Produced(t, err, failure.DiskFull)
	must(t, os.Remove(theirs))
	open(t, o)
}

// Mounts a small disk.
func TestRootDiskThatBecomesReadOnlyRefusesNewWork(t *testing.T) {
	disk := smallDisk(t, 8<<20)
	o := ordinary(t)
	o.Folder = filepath.Join(disk, "state")
	j, err := Open(o)
	must(t, err)
	waiting := command("waiting", "make")
	receive(t, j, waiting)
	must(t, j.Close())
	must(t, syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	_, err = Open(o)
	failuretest.Produced(t, err, failure.JournalUnwritable)
}
