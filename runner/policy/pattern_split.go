package policy

import "strings"

// splitter splits a Terminal entry's content into words by the shell's quoting rules. It is no parser: reserved
// words, # and backticks are ordinary, and of $( ) it knows only that operators in it end nothing (section 3).
type splitter struct {
	text        string
	pos         int
	words       []string
	operator    string
	wholeQuoted bool

	word   strings.Builder
	inWord bool
	parens int
}

// split reports false for a quote that is left open.
func (s *splitter) split() bool {
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		switch {
		case c == ' ' || c == '\t':
			s.end()
			s.pos++
		case c == '\n' && s.parens == 0 && len(s.words) == 0 && !s.inWord, c == '\r':
			s.end()
			s.pos++
		case s.parens == 0 && strings.IndexByte(";&|<>()\n", c) >= 0:
			if (c == '<' || c == '>') && s.inWord && isNumber(s.word.String()) {
				s.word.Reset() // a descriptor, no word
				s.inWord = false
			}
			s.operator = string(c)
			s.end()
			return true
		default:
			if !s.step(c) {
				return false
			}
		}
	}
	s.end()
	return true
}

// step takes what begins at c into the word.
func (s *splitter) step(c byte) bool {
	start := !s.inWord
	s.inWord = true
	switch c {
	case '\'':
		n := strings.IndexByte(s.text[s.pos+1:], '\'')
		if n < 0 {
			return false
		}
		s.word.WriteString(s.text[s.pos+1 : s.pos+1+n])
		s.pos += n + 2
		s.quoted(start)
	case '"':
		if !s.double() {
			return false
		}
		s.quoted(start)
	case '\\':
		s.pos++
		switch {
		case s.pos == len(s.text):
			s.word.WriteByte('\\')
		case s.text[s.pos] == '\n':
			s.inWord = !start
			s.pos++
		default:
			s.word.WriteByte(s.text[s.pos])
			s.pos++
		}
	case '$':
		return s.dollar(start)
	default:
		if s.parens > 0 {
			switch c {
			case '(':
				s.parens++
			case ')':
				s.parens--
			}
		}
		s.word.WriteByte(c)
		s.pos++
	}
	return true
}

// quoted notes a word that is one quoted text from the content's first character to its last.
func (s *splitter) quoted(start bool) {
	s.wholeQuoted = start && len(s.words) == 0 && strings.Trim(s.text[s.pos:], blanks) == ""
}

// dollar reads a parameter in its plain form, the opening of a substitution, or a quote with a dollar in front.
func (s *splitter) dollar(start bool) bool {
	rest := s.text[s.pos+1:]
	switch {
	case strings.HasPrefix(rest, "'"):
		text, n, ok := decodeANSI(rest[1:])
		if !ok {
			return false
		}
		s.word.WriteString(text)
		s.pos += 2 + n
		s.quoted(start)
	case strings.HasPrefix(rest, `"`):
		s.pos++
		if !s.double() {
			return false
		}
		s.quoted(start)
	case strings.HasPrefix(rest, "("):
		s.parens++
		s.word.WriteString("$(")
		s.pos += 2
	default:
		s.plain(rest)
	}
	return true
}

// plain writes ${NAME} as $NAME, and everything else as it stands.
func (s *splitter) plain(rest string) {
	s.word.WriteByte('$')
	s.pos++
	if !strings.HasPrefix(rest, "{") {
		return
	}
	if n := strings.IndexByte(rest, '}'); n > 1 && isName(rest[1:n]) {
		s.word.WriteString(rest[1:n])
		s.pos += n + 1
	}
}

// double reads a double-quoted text whose opening quote stands at pos.
func (s *splitter) double() bool {
	s.pos++
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; c {
		case '"':
			s.pos++
			return true
		case '\\':
			if s.pos+1 < len(s.text) {
				next := s.text[s.pos+1]
				if strings.IndexByte("$`\"\\\n", next) < 0 {
					s.word.WriteByte('\\')
				}
				if next != '\n' {
					s.word.WriteByte(next)
				}
				s.pos += 2
				continue
			}
			return false
		case '$':
			s.plain(s.text[s.pos+1:])
		default:
			s.word.WriteByte(c)
			s.pos++
		}
	}
	return false
}

func (s *splitter) end() {
	if s.inWord {
		s.words = append(s.words, s.word.String())
		s.word.Reset()
		s.inWord = false
	}
}

func isNumber(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

func isName(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i]) || i == 0 && isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}
