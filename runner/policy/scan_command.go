package policy

import "strings"

// inCommand takes one step outside of quotes; it says whether the next character begins a word.
func (s *scanner) inCommand(wordStart bool) bool {
	f := s.top()
	arith := f.kind == 'a' || f.kind == 'b'
	switch c := s.peek(); c {
	case '\\':
		s.keep(2)
		f.begin = false
	case '\'':
		s.single()
		f.begin = false
	case '"':
		s.take()
		f.begin = false
		s.push(frame{kind: '"'})
	case '$':
		f.begin = false
		s.dollar(false)
	case '`':
		f.begin = false
		s.backtick()
		return s.top().kind == '`'
	case ' ', '\t':
		s.take()
		return true
	case '\n':
		s.take()
		f.begin = true
		if !arith {
			s.documents()
		}
		return true
	case '#':
		if wordStart && !arith {
			s.comment()
			return true
		}
		s.take()
	case ';', '&', '|':
		s.take()
		f.begin = true
		if arith || f.test {
			s.operator()
		}
		return true
	case '<', '>':
		return s.angle(arith)
	case '(':
		s.open(f, arith)
		return true
	case ')':
		s.take()
		s.close(f)
		return true
	case ']':
		s.take()
		if f.kind == 'b' {
			s.pop()
		}
	default:
		if arith {
			s.take()
			if strings.IndexByte("!~+-?:=,*/%^", c) >= 0 {
				s.operator()
			}
			return false
		}
		if wordStart {
			s.word(f)
			return false
		}
		if c == '{' {
			s.operatorIn(f) // braces nest in words, too
		}
		s.take()
	}
	return false
}

// operator counts what makes the grammar's parser recurse without a bracket.
func (s *scanner) operator() { s.operatorIn(s.top()) }

func (s *scanner) operatorIn(f *frame) {
	if f.marks++; f.marks > 8*maxScanDepth {
		s.tooDeep()
	}
}

func (s *scanner) open(f *frame, arith bool) {
	s.take()
	if arith {
		s.push(frame{kind: 'a'})
		return
	}
	if s.peek() == ')' { // a function
		s.nest()
	}
	s.push(frame{kind: '(', begin: true, test: f.test})
}

// close ends the innermost parenthesis; in a case it may end a pattern instead.
func (s *scanner) close(f *frame) {
	switch {
	case f.kind == 'b' || f.kind == '`':
	case f.cases > 0 && f.kind != 'a':
		f.begin = true
	default:
		kind := f.kind
		s.pop()
		if kind != 'a' {
			s.top().begin = kind == '(' // behind a pattern in parentheses, commands
		}
	}
}

// nest counts a construct that nests and whose end is not looked for.
func (s *scanner) nest() {
	f := s.top()
	f.words++
	s.depth++
	if len(s.stack)+s.depth >= maxScanDepth {
		s.tooDeep()
	}
}

func (s *scanner) unnest() {
	if f := s.top(); f.words > 0 && s.depth > 0 {
		f.words--
		s.depth--
	}
}

// word copies the first characters of a word and looks whether it is a reserved one.
func (s *scanner) word(f *frame) {
	from := len(s.buf)
	for {
		c := s.peek()
		if c == 0 || strings.IndexByte(" \t\n;&|<>()'\"\\$`", c) >= 0 {
			break
		}
		s.take()
	}
	if len(s.buf) == from {
		s.take()
		f.begin = false
		return
	}
	w := string(s.buf[from:])
	begin := f.begin
	f.begin = false
	if f.test && w == "]]" {
		f.test = false
		return
	}
	if f.test && w == "!" {
		s.operatorIn(f)
		return
	}
	switch w {
	case "!", "time", "coproc":
		if begin {
			s.operatorIn(f)
			f.begin = true
		}
	case "if", "while", "until", "for", "select", "{", "case", "function":
		if !begin {
			return
		}
		s.nest()
		switch w {
		case "case":
			f.cases++
		case "if", "while", "until", "{":
			f.begin = true
		}
	case "then", "do", "else", "elif":
		f.begin = begin
	case "fi", "done", "}":
		if begin {
			s.unnest()
		}
	case "esac":
		if f.cases > 0 {
			f.cases--
			s.unnest()
		}
	case "in":
		f.begin = f.cases > 0
	case "[[":
		f.test = begin
	default:
		if n := strings.Count(w, "{"); n > 0 {
			for range n {
				s.operatorIn(f)
			}
		}
	}
}

// comment drops a comment, but not the newline behind it: a backslash at its end joins nothing.
func (s *scanner) comment() {
	for s.pos < len(s.src) && s.src[s.pos] != '\n' {
		if s.src[s.pos] == '`' && s.inBackticks() {
			return
		}
		s.pos++
	}
}

func (s *scanner) inBackticks() bool {
	for i := range s.stack {
		if s.stack[i].kind == '`' {
			return true
		}
	}
	return false
}
