package policy

import "strings"

// word reads one word, and what it says about the words behind it.
func (l *loose) word(c *line) {
	from, at := len(c.buf), l.pos
	for l.pos < len(l.src) && strings.IndexByte(" \t\n;&|<>()", l.src[l.pos]) < 0 {
		l.piece(&c.buf, false)
	}
	w := l.src[at:l.pos]
	switch {
	case c.test:
		c.test = w != "]]"
		return
	case c.file:
		c.file = false
		c.begin = false
		return
	case c.pattern:
		if w == "esac" {
			c.pattern, c.begin, c.starts = false, true, nil
			c.closed = true
			c.cases = max(c.cases-1, 0)
		}
		return
	case !c.begin:
		return
	}
	named := c.named
	if c.named = 0; named != 'f' && named != 'c' && c.reserved(w) {
		return
	}
	switch named {
	case 'f', 'c':
		c.in = named
		return
	case 'n':
		c.starts = append(c.starts, from)
		return
	}
	if !c.closed {
		c.starts = append(c.starts, from)
	}
	c.begin = false
}

// reserved reads a word where a reserved one can stand. None of them belongs to the command behind it.
func (c *line) reserved(w string) bool {
	in := c.in
	c.in = 0
	switch w {
	case "time":
		if c.piped { // Bash reads the reserved word at the beginning of a pipeline alone
			return false
		}
		c.closed = false
	case "!", "if", "then", "elif", "else", "while", "until", "do", "{", "-p", "--":
		c.closed = false
	case "fi", "done", "}":
		c.closed = true
	case "esac":
		c.closed = true
		c.cases = max(c.cases-1, 0)
	case "for", "select", "function":
		c.named = 'f'
	case "case":
		c.named = 'c'
	case "coproc":
		c.named, c.closed = 'n', false
	case "[[":
		c.test, c.begin = true, false
	case "in":
		switch in {
		case 'f':
			c.begin = false
		case 'c':
			c.cases++
			c.pattern = true
		default:
			return false
		}
	default:
		return false
	}
	c.starts = nil
	return true
}

// piece copies one character, or one quoted or substituted part.
func (l *loose) piece(buf *[]byte, quoted bool) {
	switch b := l.src[l.pos]; {
	case b == '\\':
		l.keep(buf, 2)
	case b == '\'' && !quoted:
		n := strings.IndexByte(l.src[l.pos+1:], '\'')
		if n < 0 {
			l.stop()
			return
		}
		l.keep(buf, n+2)
	case b == '"' && !quoted:
		l.keep(buf, 1)
		l.until(buf, '"', true)
	case b == '`':
		l.backticks(buf, quoted)
	case b == '$':
		l.dollar(buf, quoted)
	default:
		l.keep(buf, 1)
	}
}

func (l *loose) keep(buf *[]byte, n int) {
	n = min(n, len(l.src)-l.pos)
	*buf = append(*buf, l.src[l.pos:l.pos+n]...)
	l.pos += n
}

// until copies parts up to and with a closing character.
func (l *loose) until(buf *[]byte, end byte, quoted bool) {
	if l.depth++; l.depth > maxScanDepth {
		l.stop()
	}
	defer func() { l.depth-- }()
	for l.pos < len(l.src) {
		b := l.src[l.pos]
		if b == end {
			l.keep(buf, 1)
			return
		}
		if b == '"' && end == '}' {
			l.keep(buf, 1)
			l.until(buf, '"', true)
			continue
		}
		l.piece(buf, quoted)
	}
	l.end = true
}

func (l *loose) dollar(buf *[]byte, quoted bool) {
	switch b := l.next(1); {
	case b == '(' && l.next(2) == '(':
		l.expansion(buf)
	case b == '(':
		l.pos += 2
		l.list(')')
		*buf = append(*buf, blankSubst...)
	case b == '{':
		l.keep(buf, 2)
		l.until(buf, '}', quoted)
	case b == '\'' && !quoted:
		l.keep(buf, 2)
		for l.pos < len(l.src) {
			switch l.src[l.pos] {
			case '\'':
				l.keep(buf, 1)
				return
			case '\\':
				l.keep(buf, 2)
			default:
				l.keep(buf, 1)
			}
		}
		l.end = true
	default:
		l.keep(buf, 1)
	}
}

// backticks takes a substitution of the old form out. Its end is the next backtick, whatever stands in front of it.
func (l *loose) backticks(buf *[]byte, quoted bool) {
	var inside strings.Builder
	for l.pos++; l.pos < len(l.src); l.pos++ {
		b := l.src[l.pos]
		if b == '`' {
			l.pos++
			l.apart = append(l.apart, laterText{text: inside.String()})
			*buf = append(*buf, blankSubst...)
			return
		}
		if n := l.next(1); b == '\\' && (n == '\\' || n == '$' || n == '`' || n == '"' && quoted) {
			l.pos++
			b = n
		}
		inside.WriteByte(b)
	}
	l.end = true
}

// maxAhead bounds how often a text is looked through for the end of double parentheses.
const maxAhead = 64

// matching is the index of the parenthesis that closes one which was opened in front of from, or -1.
func (l *loose) matching(from int) int {
	if l.ahead > maxAhead*len(l.src) {
		l.stop()
		return -1
	}
	open, i := 1, from
	defer func() { l.ahead += i - from }()
	for ; i < len(l.src); i++ {
		switch b := l.src[i]; b {
		case '\\':
			i++
		case '\'', '"', '`':
			n := strings.IndexByte(l.src[i+1:], b)
			if n < 0 {
				return -1
			}
			i += n + 1
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				return i
			}
		}
	}
	return -1
}

// arithmetic skips a ((…)), in which only substitutions run; false if its parentheses do not end together, which makes
// them a subshell in another.
func (l *loose) arithmetic() bool {
	from := l.pos + 2
	end := l.matching(from)
	if end < 0 || !strings.HasPrefix(l.src[end+1:], ")") {
		return false
	}
	l.data(l.src[from:end])
	l.pos = end + 2
	return true
}

// expansion takes a $((…)) out. Bash looks only later whether it is arithmetic.
func (l *loose) expansion(buf *[]byte) {
	from := l.pos + 2
	end := l.matching(from)
	if end < 0 {
		l.stop()
		return
	}
	if l.matching(from+1) == end-1 {
		l.data(l.src[from+1 : end-1])
	} else {
		l.apart = append(l.apart, laterText{text: l.src[from:end]})
	}
	*buf = append(*buf, blankSubst...)
	l.pos = end + 1
}

// data keeps a text in which only substitutions run, as the quoted operand of a command that does nothing.
func (l *loose) data(s string) {
	if strings.ContainsAny(s, "$`") {
		l.apart = append(l.apart, laterText{text: `: "` + strings.ReplaceAll(s, `"`, " ") + `"`, data: true})
	}
}
