package containerctl

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"

	"brabo.dev/runner/runner/failure"
)

// stream is a command that was started and the connection that carries its output.
type stream struct {
	engine *Engine
	c      ExecCommand
	id     string // of the exec
	mark   mark
	conn   client.HijackedResponse
	done   chan struct{} // closed when the connection has been read to its end
	out    *gate
	report *reports
	began  time.Time
	left   int // processes that kill ended
	note   string
}

// shell is where every image that can serve has a POSIX shell.
const shell = "/bin/sh"

// attach creates and starts the command and begins to read. The goroutine that reads ends with the connection, and
// result waits for it.
func (e *Engine) attach(ctx context.Context, c ExecCommand) (*stream, error) {
	m, word := newMark(), rand.Text()
	cwd, choice := c.Cwd, c.Shell
	if cwd == "" {
		cwd = MountPoint
	}
	if choice == "" {
		choice = ShellPOSIX
	}
	id, conn, err := e.startExec(ctx, c.Container, c.Env,
		shell, "-c", scriptRun, "sh", c.Text, m.kibibytes(), m.bytes(), cwd, string(choice), c.Umask, word)
	if err != nil {
		return nil, err
	}
	s := &stream{engine: e, c: c, id: id, mark: m, conn: conn, done: make(chan struct{}), out: &gate{to: c.Output}, began: time.Now()}
	s.report = &reports{word: word, begun: s.out.open}
	go func() {
		defer close(s.done)
		// An error is the end of the connection, whose reason result finds out.
		_, _ = stdcopy.StdCopy(s.out, s.report, conn.Reader)
	}()
	return s, nil
}

// startExec runs words in a container with nothing on standard input.
func (e *Engine) startExec(ctx context.Context, name string, env []string, words ...string) (string, client.HijackedResponse, error) {
	created, err := e.api.ExecCreate(ctx, name, client.ExecCreateOptions{
		AttachStdout: true, AttachStderr: true, Env: env, Cmd: words,
	})
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
	case cerrdefs.IsNotFound(inspectErr):
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
