package containerctl

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"strconv"
	"strings"
	"sync"
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
	if cerrdefs.IsConflict(err) || strings.Contains(err.Error(), "state improper") {
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
	case s.Status == "paused":
		return "it was paused by somebody else"
	case s.Status == "created":
		return "it was made but never started"
	}
	return "it is " + s.Status + " since " + s.FinishedAt.Local().Format("2006-01-02 15:04:05") +
		" with exit code " + strconv.Itoa(s.ExitCode)
}

// gateLimit is how much output is held back while the command has not reported that it began.
const gateLimit = 64 * 1024

// gate holds output back until the shell inside has reported: an engine that could not start it writes its own words
// to the same stream, and they are no output of the command.
type gate struct {
	mu     sync.Mutex // guards the rest
	to     io.Writer
	isOpen bool
	held   bytes.Buffer
}

func (g *gate) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.isOpen && g.held.Len()+len(b) <= gateLimit {
		return g.held.Write(b)
	}
	g.openLocked()
	g.pass(b)
	return len(b), nil
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.openLocked()
}

func (g *gate) openLocked() {
	g.isOpen = true
	if g.held.Len() > 0 {
		g.pass(g.held.Bytes())
		g.held.Reset()
	}
}

// pass hands bytes on. An Output that fails must not stop the reading: a full pipe would block the command.
func (g *gate) pass(b []byte) {
	if g.to != nil {
		_, _ = g.to.Write(b)
	}
}

// words gives what was held back.
func (g *gate) words() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.TrimSpace(g.held.String())
}

// reports reads the lines of scriptRun, scriptTerm and scriptEnd. Lines without their word are what a shell inside
// has to say for itself, and are dropped.
type reports struct {
	word  string
	begun func()
	line  []byte
	lines map[string][]string // by kind: the fields of the last line of that kind
}

// maxReport is more than any line of ours.
const maxReport = 256

func (r *reports) Write(b []byte) (int, error) {
	for _, c := range b {
		if c != '\n' {
			if len(r.line) < maxReport {
				r.line = append(r.line, c)
			}
			continue
		}
		fields := strings.Fields(string(r.line))
		r.line = r.line[:0]
		if len(fields) < 2 || fields[0] != r.word {
			continue
		}
		if r.lines == nil {
			r.lines = make(map[string][]string)
		}
		r.lines[fields[1]] = fields[2:]
		if fields[1] == "begin" && r.begun != nil {
			r.begun()
		}
	}
	return len(b), nil
}

// has reports whether a line of this kind came; valid once the stream is done.
func (r *reports) has(kind string) bool { _, ok := r.lines[kind]; return ok }

// number gives a field of a line as a number, fallback where there is none.
func (r *reports) number(kind string, field, fallback int) int {
	fields := r.lines[kind]
	if field >= len(fields) {
		return fallback
	}
	n, err := strconv.Atoi(fields[field])
	if err != nil {
		return fallback
	}
	return n
}
