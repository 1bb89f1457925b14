//go:build unix

package exec

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"brabo.dev/runner/runner/failure"
)

// console is the outer end of a pseudo terminal.
type console struct {
	master *os.File
	inner  string // path of the inner end
}

// openPair opens both ends of a new pseudo terminal.
func openPair() (*console, *os.File, error) {
	master, slave, err := pty.Open()
	if err != nil {
		return nil, nil, failure.New(failure.TerminalUnavailable, "a pseudo terminal").Wrap(err)
	}
	outer, err := wakeable(master)
	if err != nil {
		return nil, nil, failure.New(failure.TerminalUnavailable, slave.Name()).Wrap(closeBoth(master, slave, err))
	}
	return &console{outer, slave.Name()}, slave, nil
}

func closeBoth(a, b *os.File, err error) error {
	a.Close()
	b.Close()
	return err
}

func tryConsole() error {
	c, slave, err := openPair()
	if err != nil {
		return err
	}
	slave.Close()
	c.close()
	return nil
}

// openConsole starts o's shell as the leader of a session whose terminal is a new one.
func openConsole(o *TerminalOptions) (*console, *family, error) {
	c, slave, err := openPair()
	if err != nil {
		return nil, nil, err
	}
	defer slave.Close()
	if err = c.resize(o.Cols, o.Rows); err == nil {
		err = editUTF8(slave)
	}
	if err != nil {
		c.close()
		return nil, nil, failure.New(failure.TerminalUnavailable, c.inner).Wrap(err)
	}
	if _, err := exec.LookPath(o.Shell); err != nil {
		c.close()
		return nil, nil, err // the shell that sets a umask would only say so on the screen
	}
	path, argv := loginWords(o)
	f, err := o.Bounds.start(path, argv, &os.ProcAttr{
		Dir:   o.Dir,
		Env:   commandEnv(o.Env, o.Dir),
		Files: []*os.File{slave, slave, slave},
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: true},
	}, "")
	if err != nil {
		c.close()
		return nil, nil, err
	}
	f.noteBirth()
	return c, f, nil
}

// loginWords is the command line of a login shell: its name with a dash in front, which all shells understand, or, where
// a umask has to be set first, the option that most do.
func loginWords(o *TerminalOptions) (path string, argv []string) {
	if words := withUmask(o.Umask); words != nil {
		return words[0], append(words, o.Shell, "-l")
	}
	return o.Shell, []string{"-" + filepath.Base(o.Shell)}
}

// editUTF8 makes the terminal's own line editing delete characters, not bytes.
func editUTF8(tty *os.File) error {
	fd := int(tty.Fd())
	modes, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return fmt.Errorf("reading the terminal's modes: %w", err)
	}
	modes.Iflag |= unix.IUTF8
	if err := unix.IoctlSetTermios(fd, setTermios, modes); err != nil {
		return fmt.Errorf("setting the terminal's modes: %w", err)
	}
	return nil
}

func (c *console) Read(p []byte) (int, error)  { return c.master.Read(p) }
func (c *console) Write(p []byte) (int, error) { return c.master.Write(p) }

func (c *console) resize(cols, rows int) error {
	conn, err := c.master.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	if err := conn.Control(func(fd uintptr) {
		set = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(cols), Row: uint16(rows)})
	}); err != nil {
		return nil // it is closed
	}
	return set
}

// hangUp tells everything in the terminal that it goes away, as closing a window does. An interactive shell ignores TERM
// and acts on HUP; others the other way round.
func (c *console) hangUp(f *family) {
	members := f.members()
	for _, sig := range []unix.Signal{unix.SIGHUP, unix.SIGCONT, unix.SIGTERM} {
		for _, pid := range members {
			_ = unix.Kill(pid, sig) // an error means that it is gone, or another user's
		}
	}
}

// hangUpAgain tells the shell alone: bash forgets a hang-up that comes just when a command in its foreground ends.
func (c *console) hangUpAgain(f *family) { _ = f.proc.Signal(unix.SIGHUP) } // an error means that it is gone

// killSession kills the shell's session and what left it.
func (f *family) killSession() {
	f.kill()
	for _, pid := range f.members() {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}
