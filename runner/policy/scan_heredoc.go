package policy

import "strings"

const issueUnclosed = "a here-document that is not closed"

// angle reads < and >, and with << the delimiter of a here-document.
func (s *scanner) angle(arith bool) bool {
	c := s.take()
	if arith {
		return false
	}
	if s.peek() == '(' { // process substitution
		s.take()
		s.push(frame{kind: 'c', begin: true})
		return true
	}
	if c != '<' || s.peek() != '<' {
		return true
	}
	s.take()
	if s.peek() == '<' {
		s.take()
		return true
	}
	d := heredoc{depth: len(s.stack)}
	if s.peek() == '-' {
		s.take()
		d.tabs = true
	}
	for c := s.peek(); c == ' ' || c == '\t'; c = s.peek() {
		s.take()
	}
	var delim strings.Builder
	for {
		c := s.peek()
		if c == 0 || strings.IndexByte(" \t\n;&|<>()", c) >= 0 {
			break
		}
		from := len(s.buf)
		switch c {
		case '\'':
			d.quoted = true
			s.single()
			delim.WriteString(strings.Trim(string(s.buf[from:]), "'"))
		case '"':
			d.quoted = true
			s.take()
			for c := s.peek(); c != 0 && c != '"'; c = s.peek() {
				if c == '\\' && s.pos+1 < len(s.src) && strings.IndexByte("$`\"\\", s.src[s.pos+1]) >= 0 {
					s.keep(1)
				}
				delim.WriteByte(s.take())
			}
			s.take()
		case '\\':
			d.quoted = true
			s.keep(1)
			if s.pos < len(s.src) {
				delim.WriteByte(s.src[s.pos])
				s.keep(1)
			}
		case '$':
			s.take()
			if s.peek() == '\'' {
				d.quoted = true
				at := s.pos
				s.ansi()
				text, _, _ := decodeANSI(s.src[at+1:])
				delim.WriteString(text)
				s.issue("a here-document whose end is spelled in a way that shells read differently")
				continue
			}
			delim.WriteByte('$')
		default:
			delim.WriteByte(s.take())
		}
	}
	d.delim = delim.String()
	s.docs = append(s.docs, d)
	return true
}

// documents reads the bodies of the here-documents that were begun on the line that just ended.
func (s *scanner) documents() {
	docs := s.docs
	s.docs = nil
	for _, d := range docs {
		if d.depth != len(s.stack) {
			s.issue("a here-document whose body stands in another bracket")
		}
		if !s.document(d) {
			s.unclosed(d)
		}
	}
}

// document copies one body, joined as Bash joins it before it looks for the end.
func (s *scanner) document(d heredoc) bool {
	for s.pos < len(s.src) {
		from := len(s.buf)
		for s.pos < len(s.src) {
			c := s.src[s.pos]
			if c == '\\' && !d.quoted {
				if strings.HasPrefix(s.src[s.pos:], "\\\n") {
					s.joinDocument(from)
					continue
				}
				s.keep(2)
				continue
			}
			s.keep(1)
			if c == '\n' {
				break
			}
		}
		line := strings.TrimSuffix(string(s.buf[from:]), "\n")
		if d.tabs {
			line = strings.TrimLeft(line, "\t")
		}
		if line == d.delim {
			return true
		}
	}
	return false
}

// joinDocument skips one backslash-newline in a here-document.
func (s *scanner) joinDocument(lineStart int) {
	if len(s.buf) == lineStart || s.buf[len(s.buf)-1] != ' ' {
		s.issue("a line that is continued in the middle of a word")
	}
	s.pos += 2
}

// unclosed closes a here-document that the end of the text closes.
func (s *scanner) unclosed(d heredoc) {
	s.issue(issueUnclosed)
	if n := len(s.buf); n > 0 && s.buf[n-1] != '\n' {
		s.buf = append(s.buf, '\n')
	}
	s.buf = append(s.buf, d.delim...)
	s.buf = append(s.buf, '\n')
}

// closeDocuments closes what is open at the end of the text.
func (s *scanner) closeDocuments() {
	docs := s.docs
	s.docs = nil
	for _, d := range docs {
		s.unclosed(d)
	}
}
