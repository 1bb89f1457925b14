package policy

import "strings"

// Pattern is an entry of permissions.json, read (section 3).
type Pattern struct {
	Entry string        // as it stands in the file
	Type  string        // the action type its label names; empty where the entry has no known label
	Words []PatternWord // of a Terminal entry: what a segment's words are compared with
	Inert string        // why the entry matches nothing; empty where it can match

	// What probably is a mistake, though it changes no verdict (section 1).
	Operator string // the unquoted operator in the content, behind which nothing is read
	Quoted   bool   // the content is quoted as a whole, hence a single word
}

// PatternWord is one word of a Terminal entry after quote removal.
type PatternWord struct {
	Text string // without the final star, where Star is set
	Star bool   // matches every word that begins with Text
}

// String is the word as a person wrote it, quotes aside.
func (p PatternWord) String() string {
	if p.Star {
		return p.Text + "*"
	}
	return p.Text
}

const blanks = " \t\r\n"

// ParsePattern reads one entry. It never fails: an entry that says nothing comes back with the reason in Inert.
func ParsePattern(entry string) Pattern {
	p := Pattern{Entry: entry}
	text := strings.Trim(entry, blanks)
	n := 0
	for n < len(text) && isLetter(text[n]) {
		n++
	}
	if n == 0 || n == len(text) || text[n] != '(' || text[len(text)-1] != ')' {
		p.Inert = "it does not have the form Label(content)"
		return p
	}
	label, content := text[:n], text[n+1:len(text)-1]
	t, ok := typeLabelled(label)
	if !ok {
		p.Inert = "there is no label " + label
		return p
	}
	p.Type = t.Type
	if t.Type != typeTerminal {
		if strings.Trim(content, blanks) != "" {
			p.Inert = "only Terminal takes a content"
		}
		return p
	}
	s := splitter{text: content}
	if !s.split() {
		p.Inert = "a quote in it is not closed"
		return p
	}
	p.Operator = s.operator
	p.Quoted = len(s.words) == 1 && s.wholeQuoted
	for _, w := range s.words {
		pw := PatternWord{Text: w}
		// A word that ends in /* is about the token /* itself and not about what lies below.
		if strings.HasSuffix(w, "*") && !strings.HasSuffix(w, "/*") {
			pw = PatternWord{Text: w[:len(w)-1], Star: true}
		}
		p.Words = append(p.Words, pw)
	}
	if len(p.Words) == 0 {
		p.Inert = "it holds no word"
	}
	return p
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNameByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }
