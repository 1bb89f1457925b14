package runner

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/exec"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
)

// Terminals is how terminals are opened; the names are those of settings.md.
type Terminals struct {
	Max int // terminals.max, in one project; zero: none, and the capability is not declared
}

// working is t, or none where the system gives no pseudo terminal: a capability is declared only when it works.
func (t Terminals) working(log *slog.Logger) Terminals {
	if t.Max == 0 {
		return t
	}
	if err := exec.TerminalsWork(); err != nil {
		log.Warn("no terminals will be opened", "failure", err)
		return Terminals{}
	}
	return t
}

func (s *session) isDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// terminals are those of one connection, and end with it. Each owns two goroutines, one that feeds it and one that shows
// its output; the session waits for them before it ends, and a new connection does not.
type terminals struct {
	s    *session
	l    link
	ctx  context.Context // of the connection
	work *sync.WaitGroup // the session's

	mu      sync.Mutex // guards what follows
	open    map[string]*terminal
	running int // those that are ending count as well
}

func isTerminal(event string) bool {
	switch event {
	case action.EventPtyOpen, action.EventPtyInput, action.EventPtyResize, action.EventPtyClose:
		return true
	}
	return false
}

// receiveTerminal hands a message to the terminal that it is for. It never waits for one.
func (s *session) receiveTerminal(l link, msg channel.Message) {
	var ref string
	var fail *failure.Failure
	switch msg.Event {
	case action.EventPtyOpen:
		var open action.PtyOpen
		if open, fail = action.DecodePtyOpen(msg.Payload); open.SessionRef != "" {
			if fail == nil {
				fail = s.guardTerminal(open.SessionRef)
			}
			if fail == nil {
				fail = l.terminals.start(open)
			}
			if fail != nil {
				s.log.Warn("refused", "terminal", open.SessionRef, "failure", fail)
				s.reply(l, action.EventPtyError, action.PtyFailed(open.SessionRef, fail))
			}
			return
		}
	case action.EventPtyInput:
		var data []byte
		if ref, data, fail = action.DecodePtyInput(msg.Payload); fail == nil {
			l.terminals.input(ref, data)
		}
	case action.EventPtyResize:
		var cols, rows int
		if ref, cols, rows, fail = action.DecodePtyResize(msg.Payload); fail == nil {
			if t := l.terminals.find(ref); t != nil {
				t.queue.resize(cols, rows)
			}
		}
	case action.EventPtyClose:
		if ref, fail = action.DecodePtyClose(msg.Payload); fail == nil {
			l.terminals.close(ref)
		}
	}
	if fail != nil {
		s.log.Warn("ignored", "terminal", ref, "failure", fail)
	}
}

// start makes a terminal, which opens in its own time, or says why there is none.
func (ts *terminals) start(open action.PtyOpen) *failure.Failure {
	ref, limit := open.SessionRef, ts.s.m.o.Terminals.Max
	ts.mu.Lock()
	defer ts.mu.Unlock()
	switch {
	case limit == 0:
		return failure.New(failure.TerminalsDisabled, "terminal "+ref)
	case ts.s.isDraining():
		return failure.New(failure.Draining, "terminal "+ref)
	case ts.open[ref] != nil:
		return failure.New(failure.TerminalExists, "terminal "+ref)
	case ts.running >= limit:
		return failure.New(failure.TerminalLimit, "terminal "+ref).Because("this project has %d open terminals, as many as it may", limit)
	}
	t := &terminal{all: ts, ref: ref, queue: newKeystrokes()}
	t.ctx, t.end = context.WithCancel(ts.ctx)
	ts.open[ref] = t
	ts.running++
	ts.work.Go(func() { t.run(open) })
	return nil
}

// count is how many there are, those that are ending included.
func (ts *terminals) count() int {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.running
}

// openTerminals counts those of the present connection. The session's mutex is not held meanwhile: a terminal that opens
// asks for it while it holds that of all terminals.
func (s *session) openTerminals() int {
	s.mu.Lock()
	l := s.live
	s.mu.Unlock()
	if l == nil || l.terminals == nil {
		return 0
	}
	return l.terminals.count()
}

func (ts *terminals) find(ref string) *terminal {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.open[ref]
}

// input keeps what was typed until the terminal takes it. The person hears the bell when it does not fit.
func (ts *terminals) input(ref string, data []byte) {
	t := ts.find(ref)
	if t == nil {
		return // unknown: ignored (protocol.md 4.5)
	}
	if kept, first := t.queue.input(data); !kept && first {
		ts.s.log.Warn("input was dropped", "failure", failure.New(failure.TerminalInputFull, "terminal "+ref))
		ts.s.reply(ts.l, action.EventPtyData, action.PtyData{SessionRef: ref, Data: []byte{'\a'}})
	}
}

// close ends a terminal as the server wishes; its reference is free at once.
func (ts *terminals) close(ref string) {
	ts.mu.Lock()
	t := ts.open[ref]
	delete(ts.open, ref)
	ts.mu.Unlock()
	if t != nil {
		t.end()
	}
}

// ended forgets a terminal of which nothing runs any more.
func (ts *terminals) ended(t *terminal) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.running--
	if ts.open[t.ref] == t {
		delete(ts.open, t.ref)
	}
}

// terminalShell is a shell on a pseudo terminal, on the host or in a container. Read is for one goroutine, Write and
// Resize for another. The end of the context that it was opened with ends it and all that it started.
type terminalShell interface {
	io.ReadWriter
	Resize(cols, rows int) error
	// Wait returns when it has ended, which it does by itself only after its output was read.
	Wait() shellExit
}

// shellExit is how a terminal's shell ended.
type shellExit struct {
	code   int    // -1: there is none
	signal string // what ended it, where that is known
	note   string // for the log
}

func (e shellExit) String() string {
	switch {
	case e.signal != "":
		return "it was ended by " + e.signal
	case e.code < 0:
		return "its exit code is not known"
	}
	return fmt.Sprintf("its exit code was %d", e.code)
}
