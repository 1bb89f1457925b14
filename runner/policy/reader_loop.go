package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The limits of section 17 on unrolled loops.
const (
	maxReadings        = 256
	maxReadingSegments = 4096
)

// binding is an unrolled loop's name, and in a round also the word it stands for.
type binding struct {
	name   string
	words  []word
	bare   bool // outside double quotes, too, the word stands for the name
	chosen int
	outer  *binding
	of     *binding // of a round: the loop itself
}

func (e *binding) find(name string) *binding {
	for ; e != nil; e = e.outer {
		if e.name == name {
			return e
		}
	}
	return nil
}

// rounds are the combinations of words of the loops in used, inner loops turning fastest.
func (e *binding) rounds(used map[*binding]bool) []*binding {
	if e == nil {
		return []*binding{nil}
	}
	outer := e.outer.rounds(used)
	if !used[e] {
		// A loop whose name does not occur hides an outer one of the same name all the same.
		out := make([]*binding, len(outer))
		for i, o := range outer {
			out[i] = &binding{name: e.name, outer: o, of: e}
		}
		return out
	}
	var out []*binding
	for _, o := range outer {
		for i := range e.words {
			if len(out) > maxReadings {
				return out
			}
			out = append(out, &binding{name: e.name, words: e.words, bare: e.bare, chosen: i, outer: o, of: e})
		}
	}
	return out
}

// bound gives what an unrolled loop puts in the place of a plain parameter.
func (b *builder) bound(name string, quoted bool) ([]elem, bool) {
	if b.value || b.heredoc || b.env == nil {
		return nil, false
	}
	e := b.env.find(name)
	if e == nil || len(e.words) == 0 || !quoted && !e.bare {
		return nil, false
	}
	if !b.round {
		b.used[e] = true
		return nil, false
	}
	w := &e.words[e.chosen]
	out := make([]elem, 0, len(w.pieces))
	for _, p := range w.pieces {
		p.quoted, p.loop = true, true
		out = append(out, elem{piece: p})
	}
	if len(out) == 0 {
		out = append(out, text("", true))
	}
	return out, true
}

// loop reads for and select.
func (r *reader) loop(c *syntax.ForClause, at place) {
	in := at
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		r.tokens(l.Items, at, false)
		in = r.inLoop(at)
		if steers(l.Name.Value) {
			r.a.issue("a name that decides what a verb means")
		}
		if c.Select {
			r.a.give(l.Name.Value, byOther)
			break
		}
		r.a.give(l.Name.Value, byFor)
		if e := r.unrolled(l, at); e != nil {
			in.env = e
		}
	case *syntax.CStyleLoop:
		in = r.inLoop(at)
		b := builder{r: r, collect: true}
		for _, x := range []syntax.ArithmExpr{l.Init, l.Cond, l.Post} {
			if x != nil {
				b.arith(x)
			}
		}
		r.nested(b.nested, at)
	}
	r.stmts(c.Do, in)
}

// unrolled is the binding of a loop that may be unrolled, or nil.
func (r *reader) unrolled(l *syntax.WordIter, at place) *binding {
	name := l.Name.Value
	if !l.InPos.IsValid() || !r.a.unroll[name] {
		return nil
	}
	words := make([]word, 0, len(l.Items))
	for _, w := range l.Items {
		b := builder{r: r}
		made := b.word(w)
		made.each(func(x *word) { words = append(words, *x) })
	}
	if len(words) == 0 {
		return nil
	}
	bare := true
	for i := range words {
		w := &words[i]
		if w.has&^(1<<fixed|globBits) != 0 || w.tail {
			return nil
		}
		if w.isGlob() || w.text == "" || strings.ContainsAny(w.text, " \t\n*?[\\") {
			bare = false
		}
	}
	return &binding{name: name, words: words, bare: bare, outer: at.env}
}
