package policy

import "strings"

// loose takes a text apart that does not parse, as far as quotes and brackets go, into what may be a command each. Bash
// takes text that the grammar library refuses (section 17c), and looks into backticks and here-documents only when it
// runs what stands around them, so that a break in one of them keeps nothing around it from running. The command is
// unresolved anyway: what is found comes on top, and can only deny or ask more.
//
// It knows no grammar beyond where a command can begin: behind an operator, a bracket or a reserved word. What stands
// in a bracket or quote that does not end is no command, since Bash gives up there, too.
type loose struct {
	src    string
	pos    int
	depth  int
	ahead  int  // characters that were looked at ahead of time
	isData bool // src is the text of a here-document or of arithmetic
	docs   []heredoc
	end    bool // a bracket or quote is open at the end of the text, or it nests too deeply

	commands []string    // simple commands, substitutions in them left out
	apart    []laterText // texts that Bash reads by themselves, later
}

// laterText is a program in backticks, or the text of a here-document or of arithmetic, in which only substitutions
// run.
type laterText struct {
	text string
	data bool
}

// blankSubst stands in a command where a substitution was: an output that nobody knows.
const blankSubst = "``"

// line is the command that is being read.
type line struct {
	buf    []byte
	starts []int // where in buf it may begin; empty where it is none

	begin  bool // the next word can be a reserved one, or the first of a command
	closed bool // a closing word stands in front, behind which no command begins
	file   bool // the next word is a redirection's
	test   bool // inside of [[ ]]
	piped  bool // a pipe stands in front
	named  byte // the next word is a name: 'f' behind for and kin, 'c' behind case; 'n' behind coproc: may be one
	in     byte // 'f' or 'c': the reserved word in may follow

	cases   int
	pattern bool // a pattern of a case, or esac, comes next

	apart int // how many texts had been found before it
}

func (l *loose) read() { l.list(0) }

// list reads commands up to a closing bracket, or all of the text with end 0. It says whether the bracket was there; if
// not, what was found in it does not count.
func (l *loose) list(end byte) bool {
	commands, apart := len(l.commands), len(l.apart)
	if l.depth++; l.depth > maxScanDepth {
		l.stop()
	}
	defer func() { l.depth-- }()
	c := line{begin: true, apart: apart}
	for l.pos < len(l.src) {
		if l.src[l.pos] == ')' && !c.pattern && !c.test && end == ')' {
			l.flush(&c)
			l.pos++
			return true
		}
		l.step(&c)
	}
	switch {
	case end != 0:
		l.end = true
		l.commands, l.apart = l.commands[:commands], l.apart[:apart]
	case l.end:
		if !l.isData { // where what stands in front of the break has run by then
			l.apart = l.apart[:c.apart]
		}
	default:
		l.flush(&c)
	}
	return end == 0
}

func (l *loose) stop() {
	l.end = true
	l.pos = len(l.src)
}

// flush ends the command that was being read.
func (l *loose) flush(c *line) {
	for _, at := range c.starts {
		l.commands = append(l.commands, string(c.buf[at:]))
	}
	*c = line{begin: true, cases: c.cases, pattern: c.pattern, named: c.named, in: c.in, buf: c.buf[:0], apart: len(l.apart)}
}

// next is the character n places on; 0 behind the end.
func (l *loose) next(n int) byte {
	if l.pos+n >= len(l.src) {
		return 0
	}
	return l.src[l.pos+n]
}

func (l *loose) step(c *line) {
	b := l.src[l.pos]
	switch {
	case b == ' ' || b == '\t':
		c.buf = append(c.buf, b)
		l.pos++
	case b == '#':
		if n := strings.IndexByte(l.src[l.pos:], '\n'); n >= 0 {
			l.pos += n
		} else {
			l.pos = len(l.src)
		}
	case b == '\n':
		l.pos++
		if !c.test && !c.pattern {
			l.flush(c)
		}
		l.documents()
		c.apart = len(l.apart)
	case c.test && !((b == '<' || b == '>') && l.next(1) == '(') && strings.IndexByte(";&|<>()", b) >= 0:
		l.pos++
	case b == '&' && l.next(1) == '>':
		c.redirect()
		c.buf = append(c.buf, '&')
		l.pos++
		l.angle(c)
	case b == ';' || b == '&' || b == '|':
		l.operator(c)
	case b == '<' || b == '>':
		l.angle(c)
	case b == '(':
		l.open(c)
	case b == ')':
		l.pos++
		if c.pattern {
			c.pattern, c.begin, c.starts = false, true, nil
		} else {
			l.flush(c)
		}
	default:
		l.word(c)
	}
}

func (l *loose) operator(c *line) {
	b := l.src[l.pos]
	l.pos++
	if c.pattern {
		return
	}
	l.flush(c)
	if b == '|' {
		switch l.next(0) {
		case '|':
			l.pos++
		case '&':
			l.pos++
			c.piped = true
		default:
			c.piped = true
		}
		return
	}
	if b == ';' && (l.next(0) == ';' || l.next(0) == '&') {
		for l.next(0) == ';' || l.next(0) == '&' {
			l.pos++
		}
		c.pattern = c.cases > 0
	}
}

// open reads a parenthesis and what stands in it.
func (l *loose) open(c *line) {
	array := len(c.buf) > 0 && c.buf[len(c.buf)-1] == '='
	switch {
	case c.pattern:
		l.pos++
	case array:
		l.pos++
		l.words(c)
	case l.next(1) == '(' && c.begin && l.arithmetic():
		c.begin, c.closed, c.named = true, true, 0
	default:
		l.pos = min(l.pos+1, len(l.src))
		l.list(')')
		c.starts = nil
		c.begin, c.closed = true, c.begin // behind the parentheses of a function, its body
	}
}

// words reads the words of an array up to its closing parenthesis: they are no commands, but there may be some in them.
// At an operator Bash gives up the line, and goes on with the next one.
func (l *loose) words(of *line) {
	c := line{test: true}
	for l.pos < len(l.src) {
		switch b := l.src[l.pos]; {
		case b == ')':
			l.pos++
			return
		case strings.IndexByte(";&|<>(", b) >= 0 && (b != '<' && b != '>' || l.next(1) != '('):
			of.starts = nil
			if n := strings.IndexByte(l.src[l.pos:], '\n'); n >= 0 {
				l.pos += n
			} else {
				l.pos = len(l.src)
			}
			return
		}
		l.step(&c)
		c.test = true
	}
	l.end = true
}
