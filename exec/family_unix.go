//go:build unix

package exec

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// family is a shell and all that it started. The goroutine of Run alone calls its methods, but for await.
type family struct {
	kin               // what the platform needs to find those that left the group
	proc  *os.Process // the shell; its pid is also its process group and its session
	state *os.ProcessState

	scratch string // the folder for its temporary files, where it is confined
	cell    *cell  // its cgroup, where it has one
}

// newFamily starts the shell of c in a session of its own, so that it has no terminal on which a program could ask
// somebody, with out as stdout and stderr.
func newFamily(c *Command, out *os.File) (*family, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	if c.Umask != nil {
		if _, err := exec.LookPath(c.Shell.Path); err != nil {
			return nil, err // the shell in between would only say so in the output
		}
	}
	dir, release, err := c.enter()
	if err != nil {
		return nil, err
	}
	defer release()
	argv := argv(c)
	attr := &os.ProcAttr{
		Dir:   dir,
		Env:   commandEnv(c.Env, c.Dir),
		Files: []*os.File{null, out, out},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}
	cell := c.Bounds.enclose(attr)
	f, err := c.Bounds.start(argv[0], argv, attr, c.Mark)
	if err != nil {
		cell.remove()
		return nil, err
	}
	f.cell = cell
	f.cell.tighten(c.Limits)
	return f, nil
}

// startFamily starts the shell of a family. attr has to put it into a session of its own; mark is as in Command.
func startFamily(path string, argv []string, attr *os.ProcAttr, mark string) (*family, error) {
	f := &family{kin: newKin(mark)}
	attr.Env = f.environment(attr.Env)
	err := f.born(func() (err error) {
		f.proc, err = os.StartProcess(path, argv, attr)
		return err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// argv is the shell's command line. A umask can only be set from inside, by a shell that then becomes the real one.
func argv(c *Command) []string {
	return append(withUmask(c.Umask), c.Shell.words(c.Text)...)
}

// withUmask is what stands in front of a command line that is to run with a umask.
func withUmask(umask *int) []string {
	if umask == nil {
		return nil
	}
	return []string{"/bin/sh", "-c", `umask "$1" && shift && exec "$@"`, "sh", fmt.Sprintf("%04o", *umask)}
}

// await blocks until the shell itself has ended. It does not collect it: as long as it is a zombie, its pid and its
// group are nobody else's.
func (f *family) await() { awaitExit(f.proc.Pid) }

func (f *family) terminate() {
	f.signal(unix.SIGTERM)
	f.signal(unix.SIGCONT) // a stopped process acts on TERM only when it goes on
}

func (f *family) kill() {
	f.cell.kill()
	f.signal(unix.SIGKILL)
}

// collect takes the shell's exit status, once await has returned.
func (f *family) collect() {
	if f.state == nil {
		f.state, _ = f.proc.Wait()
	}
}

// exit is the shell's exit code, or -1 and the signal that ended it.
func (f *family) exit() (code int, signal string) {
	if f.state == nil {
		return -1, "" // somebody else collected it
	}
	status, ok := f.state.Sys().(syscall.WaitStatus)
	if !ok {
		return -1, ""
	}
	if status.Signaled() {
		return -1, unix.SignalName(status.Signal())
	}
	return status.ExitStatus(), ""
}

// signalGroup signals the shell's group, which is known to be ours while the shell is not collected.
func (f *family) signalGroup(sig unix.Signal) {
	if f.state == nil {
		_ = unix.Kill(-f.proc.Pid, sig) // ESRCH and EPERM both mean that there is nothing to be done
	}
}

// tooLong tells whether err means that text and environment are larger than the system can start.
func tooLong(err error) bool { return errors.Is(err, unix.E2BIG) }
