package containerctl

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"sync"
)

// scanner reads what scriptRun writes: reports, the command's output, reports. Output goes on as it comes; what
// comes before the report that the command begins is the engine's own words, when it could not start the shell.
type scanner struct {
	word  []byte
	to    io.Writer
	ended chan struct{} // closed by the report that the command has ended

	mu    sync.Mutex // guards the rest
	state scanState
	held  []byte // bytes of a report or engine's words that are not complete, or of what may become a report
	words []byte
	lines map[string][]string // the reports by kind: their fields
}

type scanState int

const (
	beforeOutput scanState = iota
	inOutput
	afterOutput
	finished
)

// maxWords is how much of an engine's words is kept.
const maxWords = 64 * 1024

func newScanner(word string, to io.Writer) *scanner {
	return &scanner{word: []byte(word), to: to, ended: make(chan struct{}), lines: make(map[string][]string)}
}

// Write never fails: an Output that fails must not stop the reading, since a full pipe would block the command.
func (s *scanner) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = append(s.held, b...)
	for s.step() {
	}
	return len(b), nil
}

// step consumes one line or one piece of output from held, and reports whether there may be more to consume.
func (s *scanner) step() bool {
	switch s.state {
	case inOutput:
		i := bytes.Index(s.held, s.word)
		if i >= 0 {
			s.pass(s.held[:i])
			s.held = s.held[i:]
			s.state = afterOutput
			return true
		}
		keep := overlap(s.held, s.word)
		s.pass(s.held[:len(s.held)-keep])
		s.held = append(s.held[:0], s.held[len(s.held)-keep:]...)
		return false
	case finished:
		s.held = nil
		return false
	}
	line, rest, ok := bytes.Cut(s.held, []byte("\n"))
	if !ok {
		if len(s.held) > maxWords { // no report of ours
			s.note(s.held)
			s.held = nil
		}
		return false
	}
	s.note(line)
	s.held = rest
	return true
}

// note takes one line: a report, or the engine's words.
func (s *scanner) note(line []byte) {
	fields := strings.Fields(string(line))
	if len(fields) < 2 || fields[0] != string(s.word) {
		if len(s.words) < maxWords {
			s.words = append(append(s.words, line...), '\n')
		}
		return
	}
	s.lines[fields[1]] = fields[2:]
	switch fields[1] {
	case "begin":
		s.state = inOutput
	case "end":
		s.state = finished
		close(s.ended)
	}
}

func (s *scanner) pass(b []byte) {
	if s.to != nil && len(b) > 0 {
		_, _ = s.to.Write(b)
	}
}

// flush gives out what was held back because it might have become a report; nothing more will come.
func (s *scanner) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case inOutput:
		s.pass(s.held)
	case beforeOutput:
		s.note(s.held)
	}
	s.held, s.state = nil, finished
}

// said gives the engine's words.
func (s *scanner) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimSpace(string(s.words))
}

// has reports whether a report of this kind has come.
func (s *scanner) has(kind string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.lines[kind]
	return ok
}

// number gives a field of a report as a number, fallback where there is none.
func (s *scanner) number(kind string, field, fallback int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	fields := s.lines[kind]
	if field >= len(fields) {
		return fallback
	}
	n, err := strconv.Atoi(fields[field])
	if err != nil {
		return fallback
	}
	return n
}

// overlap is how many bytes at the end of b are the beginning of word.
func overlap(b, word []byte) int {
	for n := min(len(b), len(word)-1); n > 0; n-- {
		if bytes.Equal(b[len(b)-n:], word[:n]) {
			return n
		}
	}
	return 0
}
