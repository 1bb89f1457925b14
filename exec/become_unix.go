//go:build unix

package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"brabo.dev/runner/runner/failure"
)

// reportFD is where the program between says what kept it from becoming the shell. It closes when it has become it.
const reportFD = 3

// reportPatience bounds the wait for that, where no deadline does; a folder on a file system that hangs would take longer.
const reportPatience = 20 * time.Second

// report is what the program between says where it fails.
type report struct {
	Errno uintptr // of becoming the shell
	Cause string  // of the bounds
}

// Become is the program between: words are the order, a path, and the argument list of what stands there. It restricts
// this process and makes it that program, with the same environment. It returns only where that fails, with an exit
// code, and has said why to who started it.
func Become(words []string) int {
	runtime.LockOSThread() // what is restricted is a thread, and it is the one that becomes the program
	r := become(words)
	text, _ := json.Marshal(r) // numbers and texts always can be
	to := os.NewFile(reportFD, "report")
	if _, err := to.Write(text); err != nil {
		fmt.Fprintf(os.Stderr, "this command is part of the daemon and nothing to be called: %s\n", text)
	}
	return 126
}

func become(words []string) report {
	if len(words) < 3 {
		return report{Cause: "the order is incomplete"}
	}
	unix.CloseOnExec(reportFD)
	var o order
	if err := json.Unmarshal([]byte(words[0]), &o); err != nil {
		return report{Cause: fmt.Sprintf("the order can't be read: %v", err)}
	}
	if err := o.Limits.set(); err != nil {
		return report{Cause: err.Error()}
	}
	if o.Confined {
		if err := o.confine(); err != nil {
			return report{Cause: err.Error()}
		}
	}
	err := syscall.Exec(words[1], words[2:], os.Environ())
	errno, _ := err.(syscall.Errno)
	return report{Errno: uintptr(errno), Cause: err.Error()}
}

// set bounds this process and what it becomes.
func (l Limits) set() error {
	seconds := uint64(math.Ceil(l.CPU.Seconds()))
	for _, limit := range []struct {
		name       string
		resource   int
		want, hard uint64
		core       bool
	}{
		{"cpu", unix.RLIMIT_CPU, seconds, seconds + 1, false},
		{"open_files", unix.RLIMIT_NOFILE, uint64(l.OpenFiles), uint64(l.OpenFiles), false},
		{"file_size", unix.RLIMIT_FSIZE, uint64(l.FileSize), uint64(l.FileSize), false},
		{"core files", unix.RLIMIT_CORE, 0, 0, true},
	} {
		if limit.want == 0 && !limit.core {
			continue
		}
		var now syscall.Rlimit
		if err := syscall.Getrlimit(limit.resource, &now); err != nil {
			return fmt.Errorf("reading the limit %s: %w", limit.name, err)
		}
		// One that is lower already stays so.
		to := syscall.Rlimit{Cur: min(limit.want, now.Cur), Max: min(limit.hard, now.Max)}
		if err := syscall.Setrlimit(limit.resource, &to); err != nil {
			return fmt.Errorf("setting the limit %s: %w", limit.name, err)
		}
	}
	return nil
}

// start is startFamily with the bounds around the program.
func (b Bounds) start(path string, argv []string, attr *os.ProcAttr, mark string) (*family, error) {
	if b.empty() {
		return startFamily(path, argv, attr, mark)
	}
	o, scratch, err := b.prepare(mark)
	if err != nil {
		return nil, err
	}
	attr.Env = withTemporary(attr.Env, scratch)
	f, err := b.startBounded(o, path, argv, attr, mark)
	if err != nil {
		removeScratch(scratch)
		return nil, err
	}
	f.scratch = scratch
	return f, nil
}

// tidy removes what was there for the family alone, when it has ended.
func (f *family) tidy() {
	removeScratch(f.scratch)
	f.cell.remove()
}

// startBounded has the program between become path. Its order holds no secrets: who runs ps can see it.
func (b Bounds) startBounded(o order, path string, argv []string, attr *os.ProcAttr, mark string) (*family, error) {
	if len(b.Helper) == 0 {
		return nil, failure.New(failure.ConfinementUnavailable, path).Because("this program can't start itself")
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	told, tell, err := openPipe()
	if err != nil {
		return nil, err
	}
	defer told.Close()
	attr.Files = append(attr.Files, tell)
	words := append(append(append([]string{}, b.Helper...), string(text), path), argv...)
	f, err := startFamily(words[0], words, attr, mark)
	tell.Close()
	if err != nil {
		return nil, err
	}
	if err := hearReport(told, path, b.by); err != nil {
		giveUp(f)
		return nil, err
	}
	return f, nil
}

// giveUp kills a family whose program between did not become the shell. One that the kernel holds, as on a file system
// that hangs, is left to the goroutine that waits for it.
func giveUp(f *family) {
	f.kill()
	a := attend(f)
	patience := time.NewTimer(afterKill)
	defer patience.Stop()
	select {
	case <-a.ended:
	case <-patience.C:
	}
	a.dismiss()
}

// hearReport waits until the program between has become the one at path, or gives why it has not; by, where it is set, at
// the latest.
func hearReport(told *os.File, path string, by time.Time) error {
	patience := time.Now().Add(reportPatience)
	sooner := !by.IsZero() && by.Before(patience)
	if sooner {
		patience = by
	}
	if err := told.SetReadDeadline(patience); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(told, 64<<10))
	if errors.Is(err, os.ErrDeadlineExceeded) && sooner {
		return failure.New(failure.ExpiredBeforeStart, path).Because("its bounds were not there in time").Wrap(err)
	}
	if err != nil {
		return failure.New(failure.CouldNotStart, path).Because("its bounds were not there in time").Wrap(err)
	}
	if len(text) == 0 {
		return nil
	}
	var r report
	switch err := json.Unmarshal(text, &r); {
	case err != nil:
		return fmt.Errorf("hearing what keeps a command from starting: %w", errors.Join(err, errors.New(string(text))))
	case r.Errno != 0:
		return &os.PathError{Op: "exec", Path: path, Err: syscall.Errno(r.Errno)}
	}
	return failure.New(failure.ConfinementUnavailable, path).Because("%s", r.Cause)
}
