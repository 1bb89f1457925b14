package exec

import (
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/charmbracelet/x/conpty"
	"golang.org/x/sys/windows"

	"brabo.dev/runner/runner/failure"
)

// console is the outer end of a pseudo console.
type console struct {
	pty     *conpty.ConPty
	in, out *os.File

	mu   sync.Mutex // guards what follows
	gone bool       // the pseudo console is closed, and its handle nobody's
}

func newConsole(cols, rows int) (*conpty.ConPty, error) {
	c, err := conpty.New(cols, rows, 0)
	if err != nil {
		return nil, failure.New(failure.TerminalUnavailable, "a pseudo console").
			Because("Windows has none before version 1809, or did not give one").Wrap(err)
	}
	return c, nil
}

func tryConsole() error {
	c, err := newConsole(80, 24)
	if err != nil {
		return err
	}
	return c.Close()
}

// openConsole starts o's shell suspended in a new pseudo console, so that nothing it starts is outside of its job.
func openConsole(o *TerminalOptions) (*console, *family, error) {
	if o.Confine != nil {
		_, err := Confinement()
		return nil, nil, err
	}
	pseudo, err := newConsole(o.Cols, o.Rows)
	if err != nil {
		return nil, nil, err
	}
	pid, handle, err := pseudo.Spawn(o.Shell, []string{o.Shell}, &syscall.ProcAttr{
		Dir: o.Dir, Env: commandEnv(o.Env, o.Dir),
		Sys: &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED},
	})
	if err != nil {
		pseudo.Close()
		return nil, nil, err
	}
	f, err := familyOf(pid, windows.Handle(handle))
	if err != nil {
		pseudo.Close()
		return nil, nil, err
	}
	// The console keeps copies of these two. Ours have to go, or the output would never end. So pseudo.Close, which would
	// close them again, is not called any more.
	windows.CloseHandle(windows.Handle(pseudo.InPipeReadFd()))
	windows.CloseHandle(windows.Handle(pseudo.OutPipeWriteFd()))
	return &console{
		pty: pseudo, in: os.NewFile(pseudo.InPipeWriteFd(), "console input"), out: os.NewFile(pseudo.OutPipeReadFd(), "console output"),
	}, f, nil
}

// familyOf takes over a process that was created suspended; handle keeps its number from being another's.
func familyOf(pid int, handle windows.Handle) (*family, error) {
	defer windows.CloseHandle(handle)
	proc, err := os.FindProcess(pid)
	if err != nil {
		_ = windows.TerminateProcess(handle, 1)
		return nil, fmt.Errorf("opening the shell's process: %w", err)
	}
	return confine(proc)
}

func (c *console) Read(p []byte) (int, error)  { return c.out.Read(p) }
func (c *console) Write(p []byte) (int, error) { return c.in.Write(p) }

func (c *console) resize(cols, rows int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return nil
	}
	return c.pty.Resize(cols, rows)
}

// stopWriting does nothing: a Write that waits ends with the console.
func (c *console) stopWriting() {}

// hangUp closes the pseudo console: its programs are told to end, and its output comes to an end. Some versions of
// Windows wait here until that output has been read.
func (c *console) hangUp(*family) {
	c.mu.Lock()
	gone := c.gone
	c.gone = true
	c.mu.Unlock()
	if !gone {
		windows.ClosePseudoConsole(windows.Handle(c.pty.Fd()))
	}
}

// hangUpAgain does nothing: a console is closed once.
func (c *console) hangUpAgain(*family) {}

func (c *console) close() {
	c.hangUp(nil)
	c.in.Close()
	c.out.Close()
}

func (f *family) killSession() { f.kill() }

// outliving counts the living members once the shell has ended.
func (f *family) outliving() int { return f.others() }
