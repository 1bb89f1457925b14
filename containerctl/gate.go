package containerctl

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"sync"
)

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

	mu    sync.Mutex
	lines map[string][]string // by kind: the fields of the last line of that kind; guarded by mu
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
		r.note(fields[1], fields[2:])
		if fields[1] == "begin" && r.begun != nil {
			r.begun()
		}
	}
	return len(b), nil
}

func (r *reports) note(kind string, fields []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lines == nil {
		r.lines = make(map[string][]string)
	}
	r.lines[kind] = fields
}

// has reports whether a line of this kind has come.
func (r *reports) has(kind string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.lines[kind]
	return ok
}

// number gives a field of a line as a number, fallback where there is none.
func (r *reports) number(kind string, field, fallback int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
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
