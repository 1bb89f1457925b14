package policy

import "strings"

// assign is one assignment in front of a command, or alone.
type assign struct {
	name   string
	value  word
	plain  bool // NAME=value and nothing else: no +=, index or array
	globby bool // a glob sign is written in the value, its ${…} included
}

// target is the file of a redirection.
type target struct {
	word   word
	writes bool // > >> >| <> &> &>> >&
}

// segment is one simple command in one reading (section 4).
type segment struct {
	words   []word // the verb first; empty for assignments or redirections alone
	flat    []word // words with braces expanded
	assigns []assign
	targets []target
	// operands of [[ ]], which are path tokens but no words.
	operands []word
	// stdin is what a here-document or here-string hands over; nil without one.
	stdin *word

	readable    bool     // of read: as written, or carried by builtin and command at most
	time        bool     // is the reserved word time, of which the grammar yields what it carries
	outside     bool     // reaches outside of the scope, whatever its words are
	wrapper     bool     // stands in the table of wrappers and carries something
	through     bool     // is carried through: needs no allow of its own (section 17)
	carried     []bool   // of flat: belongs to what is carried; nil where nothing is
	effects     []effect // see effectWords
	effectsDone bool
	texts       []bool     // see textWord
	carries     []*segment // the segments made of carried words
	tails       []tail     // what is tried against deny and ceilings only
	// known to be unresolved, with the reasons.
	issues []string
}

// verb is the first word, or nil.
func (s *segment) verb() *word {
	if len(s.words) == 0 {
		return nil
	}
	return &s.words[0]
}

// name is the last part of the verb's text; empty without a verb or where it is not written out.
func (s *segment) name() string {
	if len(s.flat) == 0 || !s.flat[0].known() {
		return ""
	}
	return lastPart(s.flat[0].text)
}

func (s *segment) is(verbs ...string) bool {
	n := s.name()
	for _, v := range verbs {
		if n == v {
			return true
		}
	}
	return false
}

func (s *segment) issue(reason string) { s.issues = append(s.issues, reason) }

// known notes what is written in a segment, and says whether that was there before.
func (s *segment) known(before map[string]bool) bool {
	var b strings.Builder
	write := func(mark string, w *word) {
		b.WriteString(mark)
		if w.open() {
			b.WriteString("\x01")
		}
		b.WriteString(w.text)
	}
	for i := range s.words {
		write("\x00", &s.words[i])
	}
	for i := range s.assigns {
		write("\x00"+s.assigns[i].name+"=", &s.assigns[i].value)
	}
	for i := range s.targets {
		write("\x00>", &s.targets[i].word)
	}
	was := noted(before, b.String())
	if s.stdin != nil {
		write("\x00<<", s.stdin)
		was = noted(before, b.String())
	}
	return was
}

// noted notes a text, and says whether it was there before.
func noted(before map[string]bool, text string) bool {
	was := before[text]
	if !was {
		before[text] = true
	}
	return was
}

// tail is what a segment may run: words of it, or a command in a text that it hands on. It has no opinion of its own.
type tail struct {
	seg       *segment
	privilege bool // ceiling 2 looks at it
	asks      bool // ask counts for the segment it belongs to, and so does the guess
	softDeny  bool // a deny found here counts as an ask
	softWord  bool // a deny of one word does
	all       bool // every tail of the words, not only the words from the first
	named     bool // of these tails, only those with a known first word
}

// weight tells tails apart that count for less than others.
func (t *tail) weight() (w uint8) {
	for i, less := range []bool{t.asks, t.softDeny, t.softWord, !t.privilege} {
		if less {
			w |= 1 << i
		}
	}
	return w
}

// unit is a reachable segment: as it stands, and in each of its readings (section 17, its readings).
type unit struct {
	stands   *segment
	readings []*segment // at least one; the segment itself where no loop is unrolled
	written  bool       // the grammar itself yields it; otherwise it was found in a wrapper or a program text
}

// item is a step in the order of the text: a segment, or words that count for path scope alone.
type item struct {
	unit   *unit
	tokens []word
	writes []word // those of tokens that are written to
	// loop is where the outermost loop or function around it begins, as an index of items; -1 outside.
	loop int
}
