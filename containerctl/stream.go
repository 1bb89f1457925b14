package containerctl

import (
	"context"
	"crypto/rand"
	"io"
	"strconv"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"

	"brabo.dev/runner/runner/failure"
)

// stream is a command that was started and what carries its output.
type stream struct {
	engine *Engine
	c      ExecCommand
	id     string // of the exec
	mark   mark
	worker *worker       // that runs it, or nil where the exec is the command's own
	hangUp func()        // ends what carries the output
	done   chan struct{} // closed when the command has reported its end, or nothing more can come
	report *scanner
	began  time.Time
	left   int // processes that kill ended
	note   string
}

// shell is where every image that can serve has a POSIX shell.
const shell = "/bin/sh"

// arguments are those of the shell function run.
func (c ExecCommand) arguments(word string, m mark, vars string) []string {
	cwd, choice := c.Cwd, c.Shell
	if cwd == "" {
		cwd = MountPoint
	}
	if choice == "" {
		choice = ShellPOSIX
	}
	return []string{word, m.kibibytes(), m.bytes(), string(choice), c.Umask, cwd, c.Text, vars}
}

// newStream waits, in a goroutine that result awaits, for the end of the command or of what carries its output.
func (e *Engine) newStream(c ExecCommand, id string, m mark, report *scanner, over <-chan struct{}, hangUp func()) *stream {
	s := &stream{engine: e, c: c, id: id, mark: m, hangUp: hangUp, report: report, done: make(chan struct{}), began: time.Now()}
	go func() {
		defer close(s.done)
		select {
		case <-report.ended:
		case <-over:
			report.flush()
		}
	}()
	return s
}

// attach starts a command by an exec of its own.
func (e *Engine) attach(ctx context.Context, c ExecCommand) (*stream, error) {
	m, word := newMark(), rand.Text()
	id, conn, err := e.startExec(ctx, c.Container, client.ExecCreateOptions{
		Env: c.Env, Cmd: append([]string{shell, "-c", scriptOnce, "sh"}, c.arguments(word, m, "")...),
	})
	if err != nil {
		return nil, err
	}
	report, over := newScanner(word, c.Output), make(chan struct{})
	go func() { // ends when the connection does, which result sees to
		defer close(over)
		// An error is the end of the connection, whose reason result finds out.
		_, _ = stdcopy.StdCopy(report, io.Discard, conn.Reader)
	}()
	return e.newStream(c, id, m, report, over, func() { conn.Close(); <-over }), nil
}

// startExec starts a process in a container and attaches to its output.
func (e *Engine) startExec(ctx context.Context, name string, opts client.ExecCreateOptions) (string, client.HijackedResponse, error) {
	opts.AttachStdout, opts.AttachStderr = true, true
	created, err := e.api.ExecCreate(ctx, name, opts)
	if err != nil {
		return "", client.HijackedResponse{}, e.execFault(ctx, err, name)
	}
	attached, err := e.api.ExecAttach(ctx, created.ID, client.ExecAttachOptions{})
	if err != nil {
		return "", client.HijackedResponse{}, e.execFault(ctx, err, name)
	}
	return created.ID, attached.HijackedResponse, nil
}

// execFault names why a command could not be started: mostly because the container does not run.
func (e *Engine) execFault(ctx context.Context, err error, name string) error {
	if cerrdefs.IsConflict(err) || strings.Contains(err.Error(), improperState) {
		return e.gone(ctx, name, err)
	}
	return e.named(ctx, err, name)
}

// gone describes what became of a container that does not run.
func (e *Engine) gone(ctx context.Context, name string, err error) error {
	f := failure.New(failure.ContainerGone, name).Wrap(err)
	got, inspectErr := e.api.ContainerInspect(ctx, name, client.ContainerInspectOptions{})
	switch {
	case isGone(inspectErr):
		return f.Because("it was removed by somebody else")
	case inspectErr != nil:
		return e.named(ctx, inspectErr, name)
	}
	return f.Because("%s", fate(stateOf(got.Container)))
}

// fate says in words why a container does not run.
func fate(s State) string {
	switch {
	case s.OOMKilled:
		return "it was ended because it used more memory than its limit"
	case s.Status == "removing":
		return "it was removed by somebody else"
	case s.Status == "paused":
		return "it was paused by somebody else"
	case s.Status == "created":
		return "it was made but never started"
	}
	return "it is " + s.Status + " since " + s.FinishedAt.Local().Format("2006-01-02 15:04:05") +
		" with exit code " + strconv.Itoa(s.ExitCode)
}
