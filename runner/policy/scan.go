package policy

import "strings"

// needsScan: the text holds something that the grammar library reads differently from Bash (section 17c), or is long
// enough to nest deeper than its parser may recurse.
func needsScan(text string) bool {
	return len(text) > 2*maxScanDepth || strings.Contains(text, "\\\n") || strings.Contains(text, "<<") || endsInBackslash(text)
}

// frame is an open bracket or quote.
type frame struct {
	kind   byte // 'c' command list, '(' parenthesis in it, '"', '{' for ${ , '`', 'a' arithmetic
	quoted bool // of '{': stands in double quotes
	cases  int  // of 'c' and '(': open case constructs
	words  int  // of 'c' and '(': open keywords, for the depth
	marks  int  // operators and prefixes, which make the parser recurse without a bracket
	begin  bool // the next word is in command position
	test   bool // of 'c' and '(': inside of [[ ]]
}

// heredoc is a here-document whose body is still to come.
type heredoc struct {
	delim  string
	quoted bool
	tabs   bool
	depth  int
}

// scanner walks a text once, as far as quoting goes, and rewrites what the library gets wrong: joins lines as Bash
// does, cuts comments, closes here-documents that the end of the text closes, and ends where nesting gets too deep.
type scanner struct {
	src    string
	pos    int
	buf    []byte
	stack  []frame
	docs   []heredoc
	issues []string
	cut    bool
	depth  int // keywords and functions that nest
}

func (s *scanner) issue(reason string) { s.issues = append(s.issues, reason) }

func (s *scanner) out() string { return string(s.buf) }

func (s *scanner) top() *frame { return &s.stack[len(s.stack)-1] }

func (s *scanner) push(f frame) {
	if len(s.stack)+s.depth >= maxScanDepth {
		s.tooDeep()
		return
	}
	s.stack = append(s.stack, f)
}

func (s *scanner) pop() {
	if len(s.stack) > 1 {
		s.depth -= s.top().words
		s.stack = s.stack[:len(s.stack)-1]
	}
}

func (s *scanner) tooDeep() {
	if !s.cut {
		s.issue("nested too deeply to be read")
		s.cut = true
	}
}

// join skips a backslash-newline at pos, as Bash does before it reads on.
func (s *scanner) join(document bool) {
	for strings.HasPrefix(s.src[s.pos:], "\\\n") {
		if s.pos == 0 && !document {
			s.pos += 2
			continue
		}
		c := byte(' ')
		if s.pos > 0 {
			c = s.src[s.pos-1]
		}
		if c != ' ' && (document || c != '\t' && c != '\n') {
			s.issue("a line that is continued in the middle of a word")
		}
		s.pos += 2
	}
}

// peek is the next character behind joined lines; 0 at the end.
func (s *scanner) peek() byte {
	s.join(false)
	if s.pos >= len(s.src) {
		return 0
	}
	return s.src[s.pos]
}

// take copies the next character.
func (s *scanner) take() byte {
	c := s.peek()
	if s.pos < len(s.src) {
		s.buf = append(s.buf, c)
		s.pos++
	}
	return c
}

// keep copies the next n characters as they stand.
func (s *scanner) keep(n int) {
	n = min(n, len(s.src)-s.pos)
	s.buf = append(s.buf, s.src[s.pos:s.pos+n]...)
	s.pos += n
}

func (s *scanner) scan() {
	s.buf = make([]byte, 0, len(s.src)+16)
	s.stack = append(s.stack, frame{kind: 'c', begin: true})
	if endsInBackslash(s.src) {
		s.issue("a backslash at the end: the line is not finished")
		// Behind more than one joined line Bash drops it; otherwise it is a character of the last word.
		if strings.HasSuffix(s.src, "\\\n\\\n\\") {
			s.src = s.src[:len(s.src)-1]
		}
	}
	wordStart := true
	for s.peek(); s.pos < len(s.src) && !s.cut; s.join(false) {
		switch s.top().kind {
		case '"':
			s.inQuotes()
			wordStart = false
		case '{':
			s.inParameter()
			wordStart = false
		default:
			wordStart = s.inCommand(wordStart)
		}
	}
	if s.cut {
		return
	}
	s.closeDocuments()
}

// inQuotes takes one step in double quotes.
func (s *scanner) inQuotes() {
	switch c := s.peek(); c {
	case '"':
		s.take()
		s.pop()
	case '\\':
		s.keep(2)
	case '$':
		s.dollar(true)
	case '`':
		s.backtick()
	default:
		s.take()
	}
}

// inParameter takes one step in ${…}.
func (s *scanner) inParameter() {
	f := *s.top()
	switch c := s.peek(); c {
	case '}':
		s.take()
		s.pop()
	case '\\':
		s.keep(2)
	case '\'':
		if f.quoted {
			s.take()
		} else {
			s.single()
		}
	case '"':
		s.take()
		s.push(frame{kind: '"'})
	case '$':
		s.dollar(f.quoted)
	case '`':
		s.backtick()
	default:
		s.take()
	}
}

// single copies a single-quoted text, in which nothing is joined.
func (s *scanner) single() {
	n := strings.IndexByte(s.src[s.pos+1:], '\'')
	if n < 0 {
		n = len(s.src) - s.pos
	}
	s.keep(n + 2)
}

// ansi copies what stands behind $ in $'…'.
func (s *scanner) ansi() {
	s.keep(1)
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case '\\':
			s.keep(2)
		case '\'':
			s.keep(1)
			return
		default:
			s.keep(1)
		}
	}
}

// dollar reads what a dollar sign opens.
func (s *scanner) dollar(quoted bool) {
	s.take()
	switch c := s.peek(); {
	case c == '(':
		s.take()
		if s.peek() == '(' {
			s.take()
			s.push(frame{kind: 'a'})
			s.push(frame{kind: 'a'})
			return
		}
		s.push(frame{kind: 'c', begin: true})
	case c == '{':
		s.take()
		s.push(frame{kind: '{', quoted: quoted})
	case c == '[':
		s.take()
		s.push(frame{kind: 'b'})
	case c == '\'' && !quoted:
		s.ansi()
	}
}

// backtick opens or closes a substitution of the old form.
func (s *scanner) backtick() {
	s.take()
	for i := len(s.stack) - 1; i > 0; i-- {
		if s.stack[i].kind == '`' {
			for len(s.stack) > i {
				s.pop()
			}
			return
		}
	}
	s.push(frame{kind: '`', begin: true})
}
