package policy

import "strings"

// kind says what a piece of a word is.
type kind uint8

const (
	fixed   kind = iota // known text
	param               // a plain $NAME: keeps its text, its value is unknown
	opaque              // the output of something, or a ${…} of which nothing is known
	numeric             // $? and kin: some number
	star                // * of a glob
	quest               // ? of a glob
	class               // [...] of a glob
	home                // an unquoted tilde in front
	found               // the {} of find: a file below its roots
)

// piece is a part of a word after quote removal.
type piece struct {
	kind   kind
	text   string
	quoted bool // stands in quotes, hence stays one word (a parameter, a glob given by an unrolled loop)
	many   bool // may be several words even in quotes: "$@"
	loop   bool // put here by an unrolled loop
}

// word is a shell word after quote removal, with what is not known about it (section 4).
type word struct {
	text   string
	pieces []piece
	alts   []word // what braces expand to, in order; nil without braces
	braced bool   // holds an unquoted brace expansion (alts may be empty)

	has     uint16 // one bit a kind
	loose   bool   // may become several words, or none
	loop    bool   // holds what an unrolled loop put there
	pipe    bool   // is exactly one <(…) or >(…)
	outside bool   // out of scope whatever it says: a file of -execdir
	tail    bool   // stands for the open tail of xargs: any number of unknown words
}

func bit(k kind) uint16 { return 1 << k }

const globBits = 1<<star | 1<<quest | 1<<class

// known: no parameter, no output, no glob.
func (w *word) known() bool { return w.has&(1<<param|1<<opaque|globBits) == 0 && !w.tail }

func (w *word) isParam() bool  { return w.has&(1<<param) != 0 }
func (w *word) isOpaque() bool { return w.has&(1<<opaque) != 0 || w.tail }
func (w *word) isGlob() bool   { return w.has&globBits != 0 }
func (w *word) isTilde() bool  { return w.has&(1<<home) != 0 }
func (w *word) isFound() bool  { return w.has&(1<<found) != 0 }
func (w *word) isNumber() bool { return w.has&(1<<numeric) != 0 }

// open: what it holds is not written.
func (w *word) open() bool { return w.has&(1<<param|1<<opaque) != 0 || w.tail }

// plain: nothing but characters.
func (w *word) plain() bool { return w.has&^(1<<fixed) == 0 && !w.braced && !w.tail }

// literal is a word of known text.
func literal(text string) word {
	return word{text: text, pieces: []piece{{kind: fixed, text: text}}, has: bit(fixed)}
}

// makeWord sums up pieces.
func makeWord(pieces []piece) word {
	w := word{pieces: pieces}
	if len(pieces) == 1 {
		w.text = pieces[0].text
	} else {
		var b strings.Builder
		for i := range pieces {
			b.WriteString(pieces[i].text)
		}
		w.text = b.String()
	}
	for i := range pieces {
		p := &pieces[i]
		w.has |= bit(p.kind)
		w.loop = w.loop || p.loop
		switch p.kind {
		case param, opaque, star, quest, class:
			if !p.quoted || p.many {
				w.loose = true
			}
		}
	}
	return w
}

// front is the text in front of the first piece that is not fixed.
func (w *word) front() string {
	if w.has&^(1<<fixed) == 0 {
		return w.text
	}
	n := 0
	for i := range w.pieces {
		if w.pieces[i].kind != fixed {
			break
		}
		n += len(w.pieces[i].text)
	}
	return w.text[:n]
}

// after is w without its first n bytes, which must be fixed text.
func (w *word) after(n int) word {
	var rest []piece
	for i := range w.pieces {
		p := w.pieces[i]
		if n >= len(p.text) && n > 0 {
			n -= len(p.text)
			continue
		}
		if n > 0 {
			p.text = p.text[n:]
			n = 0
		}
		rest = append(rest, p)
	}
	if len(rest) == 0 {
		return literal("")
	}
	r := makeWord(rest)
	return r
}

// each calls f with the word itself, or with every word that its braces expand to.
func (w *word) each(f func(*word)) {
	if !w.braced {
		f(w)
		return
	}
	for i := range w.alts {
		f(&w.alts[i])
	}
}

// flatten expands the braces of words, in order.
func flatten(words []word) []word {
	braced := false
	for i := range words {
		braced = braced || words[i].braced
	}
	if !braced {
		return words
	}
	var out []word
	for i := range words {
		words[i].each(func(w *word) { out = append(out, *w) })
	}
	return out
}

// lastPart is what stands behind a verb's last slash.
func lastPart(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

// lastPart is the word behind its last slash.
func (w *word) lastPart() word {
	if w.plain() {
		if n := strings.LastIndexByte(w.text, '/'); n >= 0 {
			return literal(w.text[n+1:])
		}
		return *w
	}
	for i := len(w.pieces) - 1; i >= 0; i-- {
		p := w.pieces[i]
		if p.kind != fixed {
			continue
		}
		n := strings.LastIndexByte(p.text, '/')
		if n < 0 {
			continue
		}
		rest := append([]piece{{kind: fixed, text: p.text[n+1:], quoted: p.quoted, loop: p.loop}}, w.pieces[i+1:]...)
		return makeWord(rest)
	}
	return *w
}
