package policy

import "sync"

// Rules are the entries of a permissions.json, read once. They are safe for concurrent use.
type Rules struct {
	builtin, deny, ask list
	allow              list
}

// list is one list of entries.
type list struct {
	typed    map[string]string // action type to entry
	patterns []Pattern         // of terminal, those that can match
	byVerb   map[string][]int  // patterns whose first word is no star, by it
	starred  []int             // the others
}

// Builtin are the denies that are always in force (section 6).
func Builtin() []string {
	return []string{"Terminal(rm -rf /)", "Terminal(rm -rf /*)", "Terminal(rm -fr /)"}
}

// builtin are those, read once: a second lock compiles a file anew for each action.
var builtin = sync.OnceValue(func() list { return newList(Builtin()) })

// Compile reads the entries of a file. Inert entries match nothing.
func Compile(p Permissions) *Rules {
	return &Rules{
		builtin: builtin(),
		deny:    newList(p.Deny),
		ask:     newList(p.Ask),
		allow:   newList(p.Allow),
	}
}

func newList(entries []string) list {
	if len(entries) == 0 {
		return list{}
	}
	l := list{typed: map[string]string{}, byVerb: map[string][]int{}}
	for _, e := range entries {
		p := ParsePattern(e)
		switch {
		case p.Inert != "":
		case p.Type != typeTerminal:
			if _, twice := l.typed[p.Type]; !twice {
				l.typed[p.Type] = e
			}
		default:
			if p.Words[0].Star {
				l.starred = append(l.starred, len(l.patterns))
			} else {
				l.byVerb[p.Words[0].Text] = append(l.byVerb[p.Words[0].Text], len(l.patterns))
			}
			l.patterns = append(l.patterns, p)
		}
	}
	return l
}

// can finds the first pattern that a segment can be (section 17), or nil.
func (l *list) can(s *segment) *Pattern {
	if len(s.words) == 0 {
		return nil
	}
	for i := range l.patterns {
		p := &l.patterns[i]
		if !s.words[0].braced && !p.Words[0].canVerb(&s.words[0]) {
			continue
		}
		m := machine{pieces: p.Words}
		if m.match(s.words) {
			return p
		}
	}
	return nil
}

// guess finds a pattern that a segment may be, under the one guess that is made.
func (l *list) guess(s *segment) *Pattern {
	if len(s.words) < 2 || !anyOpenWord(s.words) {
		return nil
	}
	for i := range l.patterns {
		p := &l.patterns[i]
		if !s.words[0].braced && !p.Words[0].canVerb(&s.words[0]) {
			continue
		}
		m := machine{pieces: p.Words, guess: true}
		if m.match(s.words) {
			return p
		}
	}
	return nil
}

func anyOpenWord(ws []word) bool {
	for i := range ws {
		w := &ws[i]
		if w.open() || w.isFound() {
			return true
		}
		for j := range w.alts {
			if w.alts[j].open() || w.alts[j].isFound() {
				return true
			}
		}
	}
	return false
}

// tail matches what a segment may run; under guess, by the guess.
func (l *list) tail(t *tail, guess bool) []*Pattern {
	ws := t.seg.words
	if len(ws) == 0 || guess && !anyOpenWord(ws) {
		return nil
	}
	var out []*Pattern
	for i := range l.patterns {
		p := &l.patterns[i]
		if !t.all && !ws[0].braced && !p.Words[0].canVerb(&ws[0]) {
			continue
		}
		m := machine{pieces: p.Words, all: t.all, named: t.named, guess: guess}
		if m.match(ws) {
			out = append(out, p)
		}
	}
	return out
}

// covering finds an allow entry that covers a segment in this reading (sections 17 and 17a), or nil.
func (l *list) covering(s *segment) *Pattern {
	if len(s.words) == 0 {
		return nil
	}
	for i := range s.assigns {
		if !s.assigns[i].harmless() {
			return nil
		}
	}
	lead := leadOf(s.words)
	try := func(i int) bool {
		p := &l.patterns[i]
		if p.covers(s, 0) {
			return true
		}
		return lead.words > 0 && lead.known && p.covers(s, lead.words)
	}
	for _, i := range l.byVerb[s.words[0].text] {
		if try(i) {
			return &l.patterns[i]
		}
	}
	for _, i := range l.starred {
		if try(i) {
			return &l.patterns[i]
		}
	}
	return nil
}

// covers: the pattern must be a prefix of the words, those of git's lead left out, and name each effect word.
func (p *Pattern) covers(s *segment, lead int) bool {
	if len(p.Words) > len(s.words)-lead {
		return false
	}
	at := func(k int) int { // the word that the pattern's word k stands for
		if k == 0 {
			return 0
		}
		return k + lead
	}
	for k, pw := range p.Words {
		if !pw.mustText(&s.words[at(k)]) {
			return false
		}
	}
	if len(s.flat) != len(s.words) || anyBraced(s.words) {
		if len(p.Words) > len(s.flat)-lead {
			return false
		}
		for k, pw := range p.Words {
			if !pw.must(&s.flat[at(k)]) {
				return false
			}
		}
	}
	for _, e := range s.effectWords() {
		if e.at < 0 || !p.names(s, e, lead) {
			return false
		}
	}
	return true
}

// mustText is must for the text of a word with braces, and must itself for other words.
func (p PatternWord) mustText(w *word) bool {
	if w.braced {
		return p.textual(w)
	}
	return p.must(w)
}

// names: the effect word lies within the words that the entry matched, and the entry's word says it.
func (p *Pattern) names(s *segment, e effect, lead int) bool {
	k := e.at
	if lead > 0 && k > 0 {
		k -= lead
	}
	if k < 0 || k >= len(p.Words) {
		return false
	}
	pw := p.Words[k]
	if !pw.Star {
		return pw.Text == s.words[e.at].text
	}
	return e.need > 0 && len(pw.Text) >= e.need
}

func anyBraced(ws []word) bool {
	for i := range ws {
		if ws[i].braced {
			return true
		}
	}
	return false
}
