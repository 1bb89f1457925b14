package policy

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxResolved  = 32768 // bytes of text beyond which a command is unresolved (section 17)
	maxFollowed  = 8     // wrappers in wrappers and texts in texts that are followed
	maxScanDepth = 200   // nesting that is parsed; the grammar's parser recurses
)

const issueNoParse = "it does not parse as Bash"

// analysis is what was read out of one command.
type analysis struct {
	items  []item
	issues []string       // why the command is unresolved; empty where it is not
	parser *syntax.Parser // of the last text; nil while it is in use

	unroll      map[string]bool // names whose loops may be unrolled
	loops       map[string]int  // loops a name
	given       map[string]bool // names that get a value from anything but for
	opaqueNames bool            // a function, eval, source, trap or alias: names may mean anything
	unknownName bool            // a builtin gives a name that is not known
	readings    int             // segments in readings so far
	most        int             // readings of the segment with most of them

	groupInput []*word       // here-documents of groups
	inputs     map[input]int // the least depth at which each was read for a shell
	weight     uint8         // of the tails around this text, see tail.weight
	budget     *int          // bytes of program text that may still be parsed
	plainEval  int           // above 0: inside of a text for sh, whose eval must be plain POSIX, too
}

// newParser makes a parser for Bash. A parser is not safe for concurrent use, and cheap.
func newParser() *syntax.Parser { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }

func newAnalysis() *analysis {
	budget := maxHiddenText
	return &analysis{budget: &budget, inputs: map[input]int{}}
}

func (a *analysis) issue(reason string) {
	for _, r := range a.issues {
		if r == reason {
			return
		}
	}
	a.issues = append(a.issues, reason)
}

func (a *analysis) add(it item) { a.items = append(a.items, it) }

func (a *analysis) countReadings(n int) {
	a.readings += n
	a.most = max(a.most, n)
}

// give notes that a name gets a value.
func (a *analysis) give(name string, by int) {
	if name == "" {
		return
	}
	if by == byFor {
		if a.loops == nil {
			a.loops = map[string]int{}
		}
		a.loops[name]++
		return
	}
	if a.given == nil {
		a.given = map[string]bool{}
	}
	a.given[name] = true
}

// giveText notes every name in a piece of arithmetic.
func (a *analysis) giveText(s string) {
	for i := 0; i < len(s); {
		if !isNameByte(s[i]) {
			i++
			continue
		}
		j := i
		for j < len(s) && isNameByte(s[j]) {
			j++
		}
		if isName(s[i:j]) {
			a.give(s[i:j], byOther)
		}
		i = j
	}
}

// analyse reads a command. Loops are unrolled in a second pass, since what forbids it may stand behind them.
func analyse(command string) *analysis {
	a := newAnalysis()
	a.run(command)
	if len(a.loops) == 0 {
		return a
	}
	names := a.unrollable()
	if len(names) == 0 {
		return a
	}
	u := newAnalysis()
	u.unroll = names
	u.run(command)
	if u.most > maxReadings || u.readings > maxReadingSegments {
		return a
	}
	still := u.unrollable()
	for n := range names {
		if !still[n] {
			return a
		}
	}
	return u
}

// unrollable are the names whose loops may be unrolled, as far as the rest of the command goes.
func (a *analysis) unrollable() map[string]bool {
	a.giveByBuiltins()
	if a.opaqueNames || a.unknownName {
		return nil
	}
	out := map[string]bool{}
	for n, times := range a.loops {
		if times == 1 && scratch(n) && !a.given[n] {
			out[n] = true
		}
	}
	return out
}

func (a *analysis) run(command string) {
	a.checkText(command)
	if len(command) > maxResolved {
		a.issue("longer than 32,768 bytes")
	}
	r := &reader{a: a, top: true}
	r.program(command)
	a.expand(0)
}

// program parses a text and reads its statements.
func (r *reader) program(text string) {
	text, stmts, whole := r.a.parse(text)
	r.src = text
	r.a.items = slices.Grow(r.a.items, len(stmts))
	r.stmts(stmts, place{loop: -1})
	if !whole {
		r.loosely(text)
	}
}

// parse gives the statements of a text, and the text that the library's offsets belong to. Of a text that does not
// parse, the complete statements in front of the break remain, since a shell runs line by line.
func (a *analysis) parse(text string) (read string, stmts []*syntax.Stmt, whole bool) {
	if needsScan(text) {
		s := scanner{src: text}
		s.scan()
		for _, reason := range s.issues {
			a.issue(reason)
		}
		text = s.out()
	}
	stmts, whole = a.statements(text)
	return text, stmts, whole
}

// statements runs the library's parser. It is not stopped at an error, since it calls back once more behind one; should
// it panic all the same, the text counts as one that does not parse. whole is false where it does not.
func (a *analysis) statements(text string) (stmts []*syntax.Stmt, whole bool) {
	if s := plainStatement(text); s != nil {
		return []*syntax.Stmt{s}, true
	}
	failed, parser := false, a.parser
	if parser == nil {
		parser = newParser()
	}
	a.parser = nil // one that panics is not used again
	defer func() {
		if recover() != nil {
			failed = true
		} else {
			a.parser = parser
		}
		if whole = !failed; failed {
			a.issue(issueNoParse)
		}
	}()
	for s, err := range parser.StmtsSeq(strings.NewReader(text)) {
		if failed = failed || err != nil; failed {
			continue
		}
		stmts = append(stmts, s)
	}
	return stmts, true
}

// parses: the text is whole, as far as the library knows.
func parses(text string) bool {
	_, _, whole := newAnalysis().parse(text)
	return whole
}

// checkText finds what no person can see: control characters, invisible ones, invalid UTF-8.
func (a *analysis) checkText(s string) {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < 0x20 && c != '\t' && c != '\n' || c == 0x7f {
				a.issue("a control character")
				return
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n <= 1 {
			a.issue("invalid UTF-8")
			return
		}
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			a.issue("an invisible character")
			return
		}
		i += n
	}
}

// units are the reachable segments in order.
func (a *analysis) units() []*unit {
	out := make([]*unit, 0, len(a.items))
	for i := range a.items {
		if u := a.items[i].unit; u != nil {
			out = append(out, u)
		}
	}
	return out
}

// endsInBackslash: a backslash that nothing escapes stands at the end, so the line is not finished.
func endsInBackslash(s string) bool {
	n := 0
	for n < len(s) && s[len(s)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}
