package policy

import "strings"

// redirect begins a redirection.
func (c *line) redirect() {
	if c.begin && !c.closed && len(c.starts) == 0 {
		c.starts = append(c.starts, len(c.buf))
	}
	c.file = true
}

// angle reads a redirection or a process substitution. Here-documents are left out of the command.
func (l *loose) angle(c *line) {
	switch b := l.src[l.pos]; {
	case l.next(1) == '(':
		if c.begin && len(c.starts) == 0 {
			c.starts = append(c.starts, len(c.buf))
		}
		c.begin, c.file = false, false
		l.pos += 2
		l.list(')')
		c.buf = append(c.buf, blankSubst...)
	case b == '<' && l.next(1) == '<' && l.next(2) != '<':
		c.redirect()
		c.file = false
		l.pos += 2
		l.document()
	default:
		c.redirect()
		n := 1
		for n < 3 && strings.IndexByte("<>&|", l.next(n)) >= 0 && l.next(n) != 0 {
			n++
		}
		l.keep(&c.buf, n)
	}
}

// document reads the delimiter of a here-document.
func (l *loose) document() {
	d := heredoc{}
	if l.next(0) == '-' {
		d.tabs = true
		l.pos++
	}
	for l.next(0) == ' ' || l.next(0) == '\t' {
		l.pos++
	}
	commands, apart := len(l.commands), len(l.apart)
	at, skipped := l.pos, []byte(nil)
	for l.pos < len(l.src) && strings.IndexByte(" \t\n;&|<>()", l.src[l.pos]) < 0 {
		l.piece(&skipped, false)
	}
	l.commands, l.apart = l.commands[:commands], l.apart[:apart]
	d.delim, d.quoted = unquote(l.src[at:l.pos])
	l.docs = append(l.docs, d)
}

// unquote removes the quotes of a here-document's delimiter, and says whether there were any.
func unquote(s string) (text string, quoted bool) {
	var b strings.Builder
	var in byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == in:
			in = 0
		case in == 0 && (c == '\'' || c == '"'):
			in, quoted = c, true
		case c == '\\' && in != '\'' && i+1 < len(s):
			i++
			quoted = true
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), quoted
}

// documents takes out the bodies of the here-documents that were begun on the line that just ended.
func (l *loose) documents() {
	docs := l.docs
	l.docs = nil
	for _, d := range docs {
		from, to := l.pos, len(l.src)
		for l.pos < len(l.src) {
			start := l.pos
			line, _, more := strings.Cut(l.src[l.pos:], "\n")
			l.pos += len(line)
			if more {
				l.pos++
			}
			if d.tabs {
				line = strings.TrimLeft(line, "\t")
			}
			if line == d.delim {
				to = start
				break
			}
		}
		if !d.quoted {
			l.data(l.src[from:to])
		}
	}
}
