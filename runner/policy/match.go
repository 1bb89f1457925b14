package policy

import "strings"

// textual is the relation of section 3 alone: the word's text.
func (p PatternWord) textual(w *word) bool {
	if p.Star {
		return strings.HasPrefix(w.text, p.Text)
	}
	return w.text == p.Text
}

// can: under some reading of what is written, the word is the pattern word (section 17's table, deny and ask).
func (p PatternWord) can(w *word) bool {
	switch {
	case w.tail:
		return false
	case w.has&(1<<opaque) != 0:
		return p.Star && p.Text == ""
	case w.isGlob():
		if p.textual(w) {
			return true
		}
		if p.Star {
			f := w.front()
			return strings.HasPrefix(f, p.Text) || strings.HasPrefix(p.Text, f)
		}
		return w.canBe(p.Text)
	}
	return p.textual(w)
}

// canVerb is can for the verb, which is also judged by its last part.
func (p PatternWord) canVerb(w *word) bool {
	if p.can(w) {
		return true
	}
	if !hasByte(w.text, '/') {
		return false
	}
	l := w.lastPart()
	return p.can(&l)
}

// must: the word is the pattern word in every reading (section 17's table, allow).
func (p PatternWord) must(w *word) bool {
	switch {
	case w.isOpaque():
		return false
	case w.isParam() || w.isGlob():
		if p.Star {
			return strings.HasPrefix(w.front(), p.Text)
		}
	}
	return p.textual(w)
}

// mayBe: the guess. The parts that are not known are replaced by some text.
func (p PatternWord) mayBe(w *word) bool {
	if p.Star {
		f := w.front()
		return strings.HasPrefix(f, p.Text) || strings.HasPrefix(p.Text, f)
	}
	return globMatch(w.pieces, p.Text, true)
}

// mayBegin: the first of several words that a loose word becomes is the pattern word.
func (p PatternWord) mayBegin(w *word) bool {
	if w.tail {
		return true
	}
	n := 0
	for n < len(w.pieces) {
		q := &w.pieces[n]
		if q.kind == found || (q.kind == param || q.kind == opaque) && (!q.quoted || q.many) {
			break
		}
		n++
	}
	front := append(append([]piece{}, w.pieces[:n]...), piece{kind: opaque})
	if p.Star {
		f := makeWord(front)
		return p.mayBe(&f)
	}
	return globMatch(front, p.Text, true)
}

// mayVanish: nothing stands in front of the first loose part, so the word may be no word at all.
func mayVanish(w *word) bool {
	if w.tail {
		return true
	}
	for i := range w.pieces {
		q := &w.pieces[i]
		if q.kind == found || (q.kind == param || q.kind == opaque) && (!q.quoted || q.many) {
			return true
		}
		if q.kind == fixed && q.text != "" {
			return false
		}
	}
	return false
}

// machine matches one pattern against words under "can", by the walk, and by the guess. It runs over the words once,
// whatever the number of tails that are tried, so that its time is linear.
type machine struct {
	pieces   []PatternWord
	external bool // the walk of section 8, with its rules for words that are not known
	guess    bool // the guess of section 17 instead of the walk
	all      bool // every tail of the words, not only the words from the first
	named    bool // of these, only those with a known first word
	now, to  []uint8
}

// The states of a position in the pattern: at rest, behind a flag, and at rest after a guess.
const (
	atRest uint8 = 1 << iota
	behindFlag
	guessed
)

// match runs the machine.
func (m *machine) match(words []word) bool {
	k := len(m.pieces)
	if k == 0 || m.guess && k < 2 {
		return false
	}
	if !m.begins(words) {
		return false
	}
	states := make([]uint8, 2*(k+1))
	m.now, m.to = states[:k+1], states[k+1:]
	var values []bool
	if m.external && m.pieces[0].Text == "git" {
		values = leadValues(words, m.all)
	}
	for i := range words {
		w := &words[i]
		if values != nil && values[i] {
			m.value()
			continue
		}
		start := i == 0 || m.all && (!m.named || w.known())
		if !w.braced {
			m.step(w, start)
		} else {
			m.braces(w, start)
		}
		if m.now[k] != 0 {
			if !m.guess || m.now[k]&guessed != 0 {
				return true
			}
		}
		if !m.all && i > 0 && !m.alive() {
			return false
		}
	}
	return false
}

func (m *machine) alive() bool {
	for _, s := range m.now[:len(m.pieces)] {
		if s != 0 {
			return true
		}
	}
	return false
}

// begins says whether some word can be the verb; most patterns are about other verbs.
func (m *machine) begins(words []word) bool {
	for i := range words {
		if i > 0 && !m.all {
			break
		}
		if words[i].braced || m.pieces[0].canVerb(&words[i]) {
			return true
		}
	}
	return false
}

// leadValues marks the words that are an unknown DIR of git's lead, which in the walk is only a value (section 8).
func leadValues(words []word, all bool) []bool {
	var out []bool
	for i := range words {
		if i > 0 && !all {
			break
		}
		for _, at := range leadOf(words[i:]).at {
			if w := &words[i+at]; w.open() {
				if out == nil {
					out = make([]bool, len(words))
				}
				out[i+at] = true
			}
		}
	}
	return out
}

// value takes a word that is the value of the flag in front of it.
func (m *machine) value() {
	for i, s := range m.now {
		if s&behindFlag != 0 {
			m.now[i] = atRest
		} else if i < len(m.pieces) {
			m.now[i] = 0
		}
	}
}

// braces tries a word as its text, as any one of the words it expands to, and as all of them in their order.
func (m *machine) braces(w *word, start bool) {
	before := append([]uint8{}, m.now...)
	sum := make([]uint8, len(before))
	take := func() {
		for i, s := range m.now {
			sum[i] |= s
		}
	}
	plain := *w
	plain.braced = false
	plain.has &= ^uint16(globBits)
	m.step(&plain, start)
	take()
	for i := range w.alts {
		copy(m.now, before)
		m.step(&w.alts[i], start)
		take()
	}
	copy(m.now, before)
	for i := range w.alts {
		m.step(&w.alts[i], start && (i == 0 || m.all))
		if m.now[len(m.pieces)] != 0 {
			take()
		}
	}
	take()
	copy(m.now, sum)
}

// step takes one word.
func (m *machine) step(w *word, start bool) {
	k := len(m.pieces)
	for i := range m.to {
		m.to[i] = 0
	}
	m.to[k] = m.now[k]
	if start && m.pieces[0].canVerb(w) {
		m.to[1] |= atRest
	}
	for i := 1; i < k; i++ {
		if s := m.now[i]; s != 0 {
			if m.guess {
				m.guessStep(w, i, s)
			} else {
				m.walkStep(w, i, s)
			}
		}
	}
	m.now, m.to = m.to, m.now
}

// walkStep: a word equal to the next piece consumes it; a flag is skipped, and so is the word behind it unless it is
// the next piece or another flag; any other word ends the walk.
func (m *machine) walkStep(w *word, i int, s uint8) {
	k := len(m.pieces)
	front := w.front()
	flag := strings.HasPrefix(front, "-") || m.pieces[0].Text == "cargo" && m.external && strings.HasPrefix(front, "+")
	if m.external && (w.open() || w.isFound()) {
		looseByUnknown := false
		for j := range w.pieces {
			q := &w.pieces[j]
			looseByUnknown = looseByUnknown || (q.kind == param || q.kind == opaque) && (!q.quoted || q.many)
		}
		if !flag || looseByUnknown || w.tail {
			m.to[k] |= atRest // it may be the rest
			return
		}
	}
	if m.pieces[i].can(w) {
		if m.external && w.isGlob() {
			m.to[k] |= atRest
		}
		m.to[i+1] |= atRest
		if !w.isGlob() {
			return
		}
	}
	mayFlag := w.isGlob() && front == "" && !m.neverDash(w)
	if flag || mayFlag {
		m.to[i] |= behindFlag
	}
	if !flag && s&behindFlag != 0 {
		m.to[i] |= atRest
	}
}

// neverDash: a glob that begins with a bracket expression without a dash.
func (m *machine) neverDash(w *word) bool {
	return w.pieces[0].kind == class && !classMatch(w.pieces[0].text, '-')
}

// guessStep: a word that is not known may be the next piece; a loose one, any number of words.
func (m *machine) guessStep(w *word, i int, s uint8) {
	k := len(m.pieces)
	p := m.pieces[i]
	if p.can(w) {
		m.to[i+1] |= s
	}
	if w.plain() && w.text == "--" {
		m.to[i] |= s
		return
	}
	if !w.open() && !w.isFound() {
		return
	}
	many := w.tail || w.isFound()
	for j := range w.pieces {
		q := &w.pieces[j]
		many = many || (q.kind == param || q.kind == opaque) && (!q.quoted || q.many)
	}
	if p.mayBe(w) {
		m.to[i+1] |= guessed
	}
	if !many {
		return
	}
	if mayVanish(w) {
		m.to[i] |= guessed
	}
	if p.mayBegin(w) {
		for j := i + 1; j <= k; j++ {
			m.to[j] |= guessed
		}
	}
}
