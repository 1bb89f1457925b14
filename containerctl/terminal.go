package containerctl

import (
	"context"
	"crypto/rand"
	"io"
	"sync"
	"time"

	"github.com/moby/moby/client"
)

// TerminalOptions says what terminal is opened in which container.
type TerminalOptions struct {
	Container  string // id or name
	Cwd        string // inside, from Translate; "" is MountPoint
	Umask      string // octal, or "" for the container's
	Cols, Rows int    // in characters, at least 1
	Grace      time.Duration
}

// Terminal is an interactive shell on a pseudo terminal inside a container: the image's bash, else /bin/sh. Read is for
// one goroutine, Write and Resize for another.
type Terminal struct {
	s      *stream // what is known of its processes, for their end
	conn   client.HijackedResponse
	ctx    context.Context // ends when nobody wants the terminal any more
	grace  time.Duration
	read   chan struct{} // closed when nothing more can be read
	isRead sync.Once
	over   chan struct{} // closed when exit is set and nothing is left
	exit   TerminalExit
}

// TerminalExit is how a terminal ended.
type TerminalExit struct {
	ExitCode int    // the shell's; -1: not known
	Left     int    // processes that were found and ended after the shell
	Note     string // for a person: the container is gone, or had to be restarted
}

const (
	// resizeTime bounds one resize: an engine that does not answer must not hold up what is typed.
	resizeTime = 5 * time.Second
	// resizeTries is how often the first size is told: Podman refuses it until the shell runs.
	resizeTries = 20
	// lookPause is between two looks whether a shell that was told to end has ended.
	lookPause = 50 * time.Millisecond
	// heldOpen is how often is looked whether the shell has ended while something that it started holds the terminal open.
	heldOpen = 5 * time.Second
)

// scriptTerminal becomes the shell: $1 is the mark in KiB, $2 the umask or nothing, $3 the folder. It is no login shell,
// whose profile would replace the PATH that the image was made with.
const scriptTerminal = `
ulimit -c 0
ulimit -m "$1"
[ -n "$2" ] && umask "$2"
cd "$3" || exit 126
for b in /bin/bash /usr/bin/bash /usr/local/bin/bash; do
	[ -x "$b" ] && exec "$b"
done
exec /bin/sh
`

// scriptHangUp tells the marked processes that their terminal goes away, as a closed window does.
const scriptHangUp = scriptFind + `
lowest=$1 highest=$2
find_marked
[ "$count" -eq 0 ] || { kill -HUP $found; kill -CONT $found; kill -TERM $found; }
echo "$3 term $count"
`

// OpenTerminal opens a terminal. It ends with ctx, as Exec's commands end: everything that it started ends with it, after
// a hang-up and the grace by KILL. When the shell ends by itself, so does what it leaves in the background. Failures:
// container_gone, engine_not_running and others of Exec.
func (e *Engine) OpenTerminal(ctx context.Context, o TerminalOptions) (*Terminal, error) {
	e.endLost(ctx, o.Container)
	m := newMark()
	cwd := o.Cwd
	if cwd == "" {
		cwd = MountPoint
	}
	id, conn, err := e.startTerminal(ctx, o.Container, client.ExecCreateOptions{
		TTY: true, AttachStdin: true, ConsoleSize: client.ConsoleSize{Height: uint(o.Rows), Width: uint(o.Cols)},
		Env: []string{"TERM=xterm-256color", "LC_CTYPE=C.UTF-8"},
		Cmd: []string{shell, "-c", scriptTerminal, "sh", m.kibibytes(), o.Umask, cwd},
	})
	if err != nil {
		return nil, err
	}
	t := &Terminal{
		s: &stream{
			engine: e, c: ExecCommand{Container: o.Container}, id: id, mark: m,
			report: newScanner(rand.Text(), io.Discard), began: time.Now(), done: make(chan struct{}),
		},
		conn: conn, ctx: ctx, grace: o.Grace, read: make(chan struct{}), over: make(chan struct{}),
	}
	// Engines before API 1.42 take no size at the start. One that takes none at all shows a terminal of its own size.
	for range resizeTries {
		if t.Resize(o.Cols, o.Rows) == nil || !pause(ctx, lookPause) {
			break
		}
	}
	e.workers.wg.Go(t.keep)
	return t, nil
}

func (e *Engine) startTerminal(ctx context.Context, name string, opts client.ExecCreateOptions) (string, client.HijackedResponse, error) {
	opts.AttachStdout, opts.AttachStderr = true, true
	created, err := e.api.ExecCreate(ctx, name, opts)
	if err != nil {
		return "", client.HijackedResponse{}, e.execFault(ctx, err, name)
	}
	attached, err := e.api.ExecAttach(ctx, created.ID, client.ExecAttachOptions{TTY: true, ConsoleSize: opts.ConsoleSize})
	if err != nil {
		return "", client.HijackedResponse{}, e.execFault(ctx, err, name)
	}
	return created.ID, attached.HijackedResponse, nil
}

// Read gives what has come from the terminal, in order. At the end, and at once when ctx has ended, it gives io.EOF.
func (t *Terminal) Read(p []byte) (int, error) {
	n, err := t.conn.Reader.Read(p)
	if t.ctx.Err() != nil {
		n, err = 0, io.EOF
	}
	if err != nil {
		t.isRead.Do(func() { close(t.read) })
		err = io.EOF // how the connection ended says nothing about the shell
	}
	return n, err
}

// Write hands bytes to the terminal as if they were typed. The end of ctx ends one that waits.
func (t *Terminal) Write(p []byte) (int, error) { return t.conn.Conn.Write(p) }

// Resize tells the programs inside a new size.
func (t *Terminal) Resize(cols, rows int) error {
	ctx, cancel := context.WithTimeout(t.ctx, resizeTime)
	defer cancel()
	_, err := t.s.engine.api.ExecResize(ctx, t.s.id, client.ExecResizeOptions{Height: uint(rows), Width: uint(cols)})
	return err
}

// Wait returns when the terminal has ended, with everything in it.
func (t *Terminal) Wait() TerminalExit {
	<-t.over
	return t.exit
}

// keep sees the terminal to its end.
func (t *Terminal) keep() {
	defer close(t.over)
	defer t.conn.Close()
	stop := context.AfterFunc(t.ctx, func() { _ = t.conn.Conn.SetDeadline(time.Unix(1, 0)) }) // failing, it ends later
	defer stop()
	t.watch()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), endTime+t.grace)
	defer cancel()
	if t.ctx.Err() != nil {
		t.hangUp(ctx)
	}
	t.exit.ExitCode = -1
	if got, running := t.look(ctx); !running {
		t.exit.ExitCode = got
	}
	if gone := t.s.containerGone(ctx); gone != nil {
		t.exit.ExitCode, t.exit.Note = -1, gone.Error()
		return
	}
	if err := t.s.kill(ctx); err != nil {
		t.s.note = err.Error()
	}
	t.exit.Left, t.exit.Note = t.s.left, t.s.note
}

// watch waits until the shell has ended or has to end.
func (t *Terminal) watch() {
	tick := time.NewTicker(heldOpen)
	defer tick.Stop()
	for {
		select {
		case <-t.read:
			return
		case <-t.ctx.Done():
			return
		case <-tick.C:
			if _, running := t.look(t.ctx); !running {
				return
			}
		}
	}
}

// hangUp tells everything in the terminal to end, and waits for the shell as long as the grace.
func (t *Terminal) hangUp(ctx context.Context) {
	if _, err := t.s.engine.runScript(ctx, t.s.c.Container, scriptHangUp, t.s.mark, t.s.mark); err != nil {
		return // kill finds out why
	}
	for limit := time.Now().Add(t.grace); time.Now().Before(limit); {
		if _, running := t.look(ctx); !running || !pause(ctx, lookPause) {
			return
		}
	}
}

// pause waits for d; false when ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// look asks the engine whether the shell runs, and for its exit code where it does not. A shell that can't be asked
// about counts as running; one that the engine has forgotten has ended.
func (t *Terminal) look(ctx context.Context) (code int, running bool) {
	got, err := t.s.engine.api.ExecInspect(ctx, t.s.id, client.ExecInspectOptions{})
	switch {
	case isGone(err):
		return -1, false
	case err != nil:
		return -1, true
	}
	return got.ExitCode, got.Running
}
