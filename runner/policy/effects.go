package policy

import "strings"

// effectRow is one row of tables/effects.txt (section 17a).
type effectRow struct {
	verbs, subs     []string
	letters, values string
	longs           []string
	whole, wholeEq  []string
	rule            string
	kind            string
	shadowed        bool
}

func effectRowOf(c []string) *effectRow {
	return &effectRow{
		verbs: strings.Fields(c[0]), subs: strings.Fields(c[1]),
		letters: c[2], values: c[3], longs: strings.Fields(c[4]),
		whole: strings.Fields(c[5]), wholeEq: strings.Fields(c[6]),
		rule: c[7], kind: c[8], shadowed: c[9] == "shadowed",
	}
}

// wholeWord: the row knows whole words alone, so that a glob that can match none of them is none.
func (r *effectRow) wholeWord() bool {
	return r.letters == "" && len(r.longs) == 0 && len(r.whole)+len(r.wholeEq) > 0 && (r.rule == "" || r.rule == "go")
}

// effect is an effect word.
type effect struct {
	at   int // its index in segment.words; -1 where no entry can name it
	need int // how many bytes of it a star must have fixed to name it
}

// effecter finds the effect words of one segment.
type effecter struct {
	s    *segment
	ws   []word // braces expanded
	from []int  // ws index to words index, -1 for what braces made
	out  []effect
	seen []bool
}

// effectWords gives the effect words of a segment, computed once.
func (s *segment) effectWords() []effect {
	if s.effectsDone {
		return s.effects
	}
	s.effectsDone = true
	name := interpreterBase(s.name())
	rows := theTables().effects[name]
	if len(rows) == 0 {
		return nil
	}
	e := &effecter{s: s, ws: s.flat, from: make([]int, 0, len(s.flat))}
	for i := range s.words {
		if !s.words[i].braced {
			e.from = append(e.from, i)
			continue
		}
		for range s.words[i].alts {
			e.from = append(e.from, -1)
		}
	}
	e.seen = make([]bool, len(e.ws)+1)
	for _, r := range rows {
		if r.shadowed {
			e.row(r, 0)
		}
	}
	if i := e.pythonModule(name); i > 0 {
		for _, r := range theTables().effects["pytest"] {
			if r.shadowed {
				e.row(r, i)
			}
		}
	}
	s.effects = e.out
	return s.effects
}

// pythonModule is the index of pytest behind python's -m.
func (e *effecter) pythonModule(name string) int {
	if name != "python" {
		return 0
	}
	for i := 1; i+1 < len(e.ws); i++ {
		switch e.ws[i].text {
		case "-u", "-B":
			continue
		case "-m":
			if e.ws[i+1].text == "pytest" {
				return i + 1
			}
		}
		break
	}
	return 0
}

func (e *effecter) add(i, need int) {
	if e.seen[i] {
		return
	}
	e.seen[i] = true
	at := -1
	if i < len(e.from) {
		at = e.from[i]
	}
	if i < len(e.ws) && e.ws[i].tail {
		at = -1
	}
	e.out = append(e.out, effect{at, need})
}

// all adds the whole word.
func (e *effecter) all(i int) { e.add(i, len(e.ws[i].text)) }

// nothing adds an effect that no entry can name.
func (e *effecter) nothing() { e.add(len(e.ws), 0) }

// row applies one row; the verb stands at index v.
func (e *effecter) row(r *effectRow, v int) {
	sub := v
	if len(r.subs) > 0 {
		if sub = e.sub(r, v); sub == 0 {
			return
		}
	}
	for i := v + 1; i < len(e.ws); i++ {
		w := &e.ws[i]
		if sub > v && i <= sub && e.ws[v].text != "tar" {
			continue
		}
		if n := r.option(w.front(), w.known()); n > 0 {
			e.add(i, n)
		}
	}
	end := e.rule(r, v, sub)
	first := v + 1
	if sub > v {
		first = sub + 1
	}
	for i := first; i < end; i++ {
		if e.unknown(r, i) && !e.s.textWord(i) {
			e.all(i)
		}
	}
}

// sub is the index of the subcommand, if it is one of the row's; 0 otherwise.
func (e *effecter) sub(r *effectRow, v int) int {
	i := v + 1
	if e.ws[v].text == "git" || lastPart(e.ws[v].text) == "git" {
		i = e.gitSub()
	} else if r.subs[0] == "--version" || r.subs[0] == "eslint" || r.subs[0] == "clippy" || r.subs[0] == "api" {
		i = v + 1
	}
	if i < len(e.ws) && e.ws[i].known() && listed(r.subs, e.ws[i].text) {
		return i
	}
	return 0
}

// option says how many bytes of a word make an option with an effect; 0 where it is none.
func (r *effectRow) option(t string, known bool) int {
	for _, w := range r.whole {
		if known && t == w {
			return len(t)
		}
	}
	for _, w := range r.wholeEq {
		if t == w && known || strings.HasPrefix(t, w) && len(t) > len(w) && t[len(w)] == '=' {
			return len(w)
		}
	}
	if len(t) < 2 || t[0] != '-' {
		return 0
	}
	if t[1] != '-' {
		for i := 1; i < len(t); i++ {
			if strings.IndexByte(r.letters, t[i]) >= 0 {
				return i + 1
			}
			if strings.IndexByte(r.values, t[i]) >= 0 {
				break
			}
		}
		return 0
	}
	name, _, _ := strings.Cut(t[2:], "=")
	if name == "" || name == "text" && listed(r.subs, "diff") {
		return 0
	}
	for _, l := range r.longs {
		if strings.HasPrefix(l, name) {
			return 2 + len(name)
		}
	}
	return 0
}

// unknown: what the word says is not known, so that it may be an effect word.
func (e *effecter) unknown(r *effectRow, i int) bool {
	w := &e.ws[i]
	if w.isFound() && !w.open() && !w.isGlob() {
		return false
	}
	if w.open() {
		return true
	}
	if !w.isGlob() {
		return false
	}
	if r.wholeWord() {
		for _, x := range append(r.whole[:len(r.whole):len(r.whole)], r.wholeEq...) {
			if w.canBe(x) {
				return true
			}
		}
		return false
	}
	f := w.front()
	if f == "" || f[0] == '-' {
		return true
	}
	for _, x := range r.whole {
		if w.canBe(x) {
			return true
		}
	}
	return false
}

// interpreter says whether a verb is an interpreter; digits and dots may follow its name.
func interpreter(name string) bool { return in("interpreter", interpreterBase(name)) }

func interpreterBase(name string) string {
	if b := strings.TrimRight(name, "0123456789."); b != name && in("interpreter", b) {
		return b
	}
	return name
}
