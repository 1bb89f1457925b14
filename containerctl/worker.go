package containerctl

import (
	"context"
	"crypto/rand"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"
)

// To start an exec takes an engine several times what most commands need. A worker is a shell inside a container
// that waits on its standard input for the next command, runs it as an exec of its own would be run, and waits
// again. It ends when its connection does, so that none outlives the daemon.
type worker struct {
	container string // as the caller named it
	id        string // of the exec
	conn      client.HijackedResponse
	over      chan struct{} // closed when nothing more can come from it
	idle      *time.Timer   // ends it when nobody wants it; set while it is idle

	mu      sync.Mutex
	current *scanner // of the command that runs; guarded by mu
}

const (
	idleWorkers = 2                // kept for a container; each takes a place in its pids limit
	idleTime    = time.Minute      // after which an idle one ends
	workerText  = 16 * 1024        // longer commands get an exec of their own: a shell may read its input byte by byte
	workerWrite = 10 * time.Second // for handing a command over
)

// Write hands output to the command that runs.
func (w *worker) Write(b []byte) (int, error) {
	w.mu.Lock()
	s := w.current
	w.mu.Unlock()
	if s != nil {
		return s.Write(b)
	}
	return len(b), nil
}

func (w *worker) isOver() bool {
	select {
	case <-w.over:
		return true
	default:
		return false
	}
}

// end closes the connection, upon which the shell reads the end of its input, and waits for the reader.
func (w *worker) end() {
	w.conn.Close()
	<-w.over
}

// workers are the workers of an Engine. They belong to it, and so do the goroutines that read from them.
type workers struct {
	wg sync.WaitGroup

	mu     sync.Mutex // guards the rest
	closed bool
	idle   map[string][]*worker // by container
}

// take gives an idle worker, or nil.
func (ws *workers) take(container string) *worker {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for {
		all := ws.idle[container]
		if len(all) == 0 {
			return nil
		}
		w := all[len(all)-1]
		ws.idle[container] = all[:len(all)-1]
		if w.idle.Stop() && !w.isOver() {
			return w
		}
	}
}

// give takes a worker back that has ended its command, or ends it.
func (ws *workers) give(w *worker) {
	if !ws.keep(w) {
		w.end()
	}
}

func (ws *workers) keep(w *worker) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	all := ws.idle[w.container]
	if ws.closed || w.isOver() || len(all) >= idleWorkers {
		return false
	}
	if ws.idle == nil {
		ws.idle = make(map[string][]*worker)
	}
	// Closing is enough here: its reader ends by itself and close waits for it.
	w.idle = time.AfterFunc(idleTime, w.conn.Close)
	ws.idle[w.container] = append(all, w)
	return true
}

// forget takes a worker that is over out of the idle ones.
func (ws *workers) forget(w *worker) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	all := slices.DeleteFunc(ws.idle[w.container], func(o *worker) bool { return o == w })
	if len(all) == 0 {
		delete(ws.idle, w.container)
	} else {
		ws.idle[w.container] = all
	}
}

// drop ends the idle workers of a container under any of its names.
func (ws *workers) drop(names ...string) {
	ws.mu.Lock()
	var all []*worker
	for _, n := range names {
		all = append(all, ws.idle[n]...)
		delete(ws.idle, n)
	}
	ws.mu.Unlock()
	for _, w := range all {
		w.idle.Stop()
		w.end()
	}
}

// close ends the idle workers and waits for all readers: those of commands under way end with their commands.
func (ws *workers) close() {
	ws.mu.Lock()
	ws.closed = true
	var names []string
	for n := range ws.idle {
		names = append(names, n)
	}
	ws.mu.Unlock()
	ws.drop(names...)
	ws.wg.Wait()
}

// begin starts a command: by a worker where one will do, else by an exec of its own.
func (e *Engine) begin(ctx context.Context, c ExecCommand) (*stream, error) {
	vars, ok := exports(c.Env)
	if !ok || len(c.Text)+len(vars) > workerText || c.ownExec {
		return e.attach(ctx, c)
	}
	w := e.workers.take(c.Container)
	if w != nil && !e.runs(ctx, c.Container) {
		w.end()
		return e.attach(ctx, c) // which says what is wrong with the container
	}
	if w == nil {
		var err error
		if w, err = e.startWorker(ctx, c.Container); err != nil {
			return nil, err
		}
	}
	m, word := newMark(), rand.Text()
	report := newScanner(word, c.Output)
	w.mu.Lock()
	w.current = report
	w.mu.Unlock()
	line := "run"
	for _, a := range c.arguments(word, m, vars) {
		line += " " + quote(a)
	}
	// A failed deadline leaves a write without one, and a failed write shows as the end of the worker.
	_ = w.conn.Conn.SetWriteDeadline(time.Now().Add(workerWrite))
	if _, err := io.WriteString(w.conn.Conn, line+"\n"); err != nil {
		w.conn.Close()
	}
	s := e.newStream(c, w.id, m, report, w.over, w.end)
	s.worker = w
	return s, nil
}

// runs asks whether a container can take a command. A worker in one that is paused would take it without a word, and
// run it when nobody expects it any more.
func (e *Engine) runs(ctx context.Context, container string) bool {
	got, err := e.api.ContainerInspect(ctx, container, client.ContainerInspectOptions{})
	if err != nil {
		return false
	}
	s := stateOf(got.Container)
	return s.Running && s.Status != "paused"
}

// startWorker starts a shell that reads what to do from its standard input. It has a mark of its own, as a soft
// limit that its commands replace, so that EndCommands ends it too.
func (e *Engine) startWorker(ctx context.Context, container string) (*worker, error) {
	id, conn, err := e.startExec(ctx, container, client.ExecCreateOptions{AttachStdin: true, Cmd: []string{shell}})
	if err != nil {
		return nil, err
	}
	w := &worker{container: container, id: id, conn: conn, over: make(chan struct{})}
	e.workers.wg.Go(func() {
		defer e.workers.forget(w)
		defer close(w.over)
		// An error is the end of the connection; who waits for a command's end finds out why.
		_, _ = stdcopy.StdCopy(w, io.Discard, conn.Reader)
	})
	_ = conn.Conn.SetWriteDeadline(time.Now().Add(workerWrite))
	if _, err := io.WriteString(conn.Conn, "ulimit -S -m "+newMark().kibibytes()+"\n"+scriptRun); err != nil {
		w.conn.Close() // what begin then writes goes nowhere, and the stream is over at once
	}
	return w, nil
}

// release gives back what carried a command: a worker that has reported its end is used again.
func (s *stream) release() {
	if s.worker != nil && s.ended() && !s.report.has("unmarked") {
		s.worker.mu.Lock()
		s.worker.current = nil
		s.worker.mu.Unlock()
		s.engine.workers.give(s.worker)
		return
	}
	s.hangUp()
	<-s.done
}

var shellName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// exports is the command that sets an environment in a shell. It is not ok where a shell can't hold a name.
func exports(env []string) (command string, ok bool) {
	var b strings.Builder
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if !shellName.MatchString(name) || strings.ContainsRune(value, 0) {
			return "", false
		}
		b.WriteString("export " + name + "=" + quote(value) + "; ")
	}
	return b.String(), true
}

// quote makes one word of a shell out of any text without NUL.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
