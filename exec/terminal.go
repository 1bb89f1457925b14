package exec

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"brabo.dev/runner/runner/failure"
)

// TerminalOptions says what runs in a terminal, and where.
type TerminalOptions struct {
	Shell string   // path of the program, see LoginShell; started as a login shell
	Dir   string   // absolute; the working directory
	Env   []string // the whole environment, as TerminalEnvironment makes it
	Bounds

	Cols, Rows int           // in characters, 1 to MaxTerminalSize; what lies outside is moved there
	Umask      *int          // nil: this process's. Not on Windows
	Grace      time.Duration // between the hang-up and KILL; zero: two seconds
}

// MaxTerminalSize is how many columns or rows a terminal has at most. Programs keep each cell in memory.
const MaxTerminalSize = 1000

// Exit is how a terminal ended.
type Exit struct {
	ExitCode  int    // the shell's own; -1: there is none
	Signal    string // what ended the shell where no exit code is: "SIGHUP"
	Left      int    // processes that outlived the shell and were ended
	Survivors int    // processes that could not be ended, like those of another user
}

// Terminal is a login shell on a pseudo terminal. Read is for one goroutine, Write for one, the rest for any.
type Terminal struct {
	attended
	console *console
	output  *outflow
	grace   time.Duration
	cancel  context.CancelFunc
	over    chan struct{} // closed when exit is set and nothing is left
	exit    Exit
}

// OpenTerminal starts a shell on a new pseudo terminal. When ctx ends, or on Close, the whole of it is ended: the shell,
// its jobs, and what left them, by a hang-up as a closed window sends it, and after the grace by KILL. When the shell
// ends by itself, so does what it leaves in the background. Failures: cwd_not_absolute, cwd_missing, shell_missing,
// could_not_start, terminal_unavailable where the system gives no pseudo terminal.
func OpenTerminal(ctx context.Context, o TerminalOptions) (*Terminal, error) {
	switch {
	case !filepath.IsAbs(o.Dir):
		return nil, failure.New(failure.CwdNotAbsolute, o.Dir)
	case o.Shell == "":
		return nil, failure.New(failure.ShellMissing, "a terminal")
	case ctx.Err() != nil:
		return nil, failure.New(failure.Cancelled, "a terminal").
			Because("it was closed before it was open").Wrap(context.Cause(ctx))
	}
	o.Cols, o.Rows = terminalSize(o.Cols), terminalSize(o.Rows)
	if o.Grace <= 0 {
		o.Grace = defaultGrace
	}
	console, family, err := openConsole(&o)
	if err != nil {
		return nil, terminalFailure(&o, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	t := &Terminal{
		attended: attend(family), console: console, output: newOutflow(), grace: o.Grace,
		cancel: cancel, over: make(chan struct{}),
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		t.output.fill(console)
	}()
	go t.keep(ctx, read)
	return t, nil
}

func terminalSize(n int) int { return min(max(n, 1), MaxTerminalSize) }

// TerminalsWork tells whether this system gives a pseudo terminal: nil, or the failure terminal_unavailable.
func TerminalsWork() error {
	if err := tryConsole(); err != nil {
		return failure.New(failure.TerminalUnavailable, "a pseudo terminal").Wrap(err)
	}
	return nil
}

// Read gives what has come from the terminal, in order: all that waits, as far as p holds it. It waits for the first
// byte. While nobody reads, a bounded piece is kept and the programs that write are stopped by the terminal. At the end,
// and at once after Close, it gives io.EOF.
func (t *Terminal) Read(p []byte) (int, error) { return t.output.Read(p) }

// Write hands bytes to the terminal as if they were typed. It blocks while the programs inside don't read; Close ends
// that with an error.
func (t *Terminal) Write(p []byte) (int, error) { return t.console.Write(p) }

// Resize tells the programs inside a new size; what lies outside 1 to MaxTerminalSize is moved there. A terminal that
// has ended takes none, and that is no error.
func (t *Terminal) Resize(cols, rows int) error {
	if err := t.console.resize(terminalSize(cols), terminalSize(rows)); err != nil {
		return failure.New(failure.Internal, "terminal "+strconv.Itoa(cols)+"x"+strconv.Itoa(rows)).
			Because("it could not be resized: %v", err).Wrap(err)
	}
	return nil
}

// Close ends the terminal with everything in it and returns when that is done. Output that was not read is lost.
func (t *Terminal) Close() error {
	t.cancel()
	<-t.over
	return nil
}

// Wait returns when the terminal has ended, by itself or by Close. One that ended by itself is over when its output has
// been read.
func (t *Terminal) Wait() Exit {
	<-t.over
	return t.exit
}

// terminalFailure names what kept a terminal from opening.
func terminalFailure(o *TerminalOptions, err error) *failure.Failure {
	if f := failure.As(err); f != nil {
		return f
	}
	dir, dirErr := os.Stat(o.Dir)
	switch {
	case dirErr != nil && errors.Is(dirErr, fs.ErrNotExist), dirErr == nil && !dir.IsDir():
		return failure.New(failure.CwdMissing, o.Dir).Wrap(err)
	case dirErr != nil:
		return failure.New(failure.CouldNotStart, o.Dir).Because("the folder can't be entered").Wrap(err)
	}
	if _, shellErr := exec.LookPath(o.Shell); errors.Is(shellErr, fs.ErrNotExist) || errors.Is(shellErr, exec.ErrNotFound) {
		return failure.New(failure.ShellMissing, o.Shell).Because("there is no such program").Wrap(err)
	}
	return failure.New(failure.CouldNotStart, o.Shell).Wrap(err)
}
