package policy

import (
	"mvdan.cc/sh/v3/syntax"
)

// simple reads a simple command: assignments, words, redirections.
func (r *reader) simple(assigns []*syntax.Assign, args []*syntax.Word, redirs []*syntax.Redirect, at place) {
	r.segments(redirs, at, func(b *builder, s *segment) {
		for _, as := range assigns {
			s.assigns = append(s.assigns, b.assign(as))
		}
		if len(args) > 0 {
			s.words = make([]word, 0, len(args))
		}
		for _, w := range args {
			s.words = append(s.words, b.word(w))
		}
	})
}

// decl reads export and kin, whose operands the grammar library parses as assignments; here they are words.
func (r *reader) decl(c *syntax.DeclClause, redirs []*syntax.Redirect, at place) {
	r.segments(redirs, at, func(b *builder, s *segment) {
		s.words = append(s.words, literal(c.Variant.Value))
		for _, as := range c.Args {
			s.words = append(s.words, b.operandAssign(as))
		}
	})
}

// segments adds one segment with all its readings, and behind it what runs inside its words.
func (r *reader) segments(redirs []*syntax.Redirect, at place, fill func(*builder, *segment)) {
	used := map[*binding]bool(nil)
	b := builder{r: r, collect: true}
	if at.env != nil {
		used = map[*binding]bool{}
		b.env, b.used = at.env, used
	}
	stands := r.segment(&b, redirs, fill)
	u := &unit{stands: stands, written: r.top}
	if len(used) == 0 {
		u.readings = []*segment{stands}
	} else {
		for _, env := range at.env.rounds(used) {
			rb := builder{r: r, env: env, round: true}
			u.readings = append(u.readings, r.segment(&rb, redirs, fill))
		}
		r.a.countReadings(len(u.readings))
	}
	r.a.add(item{unit: u, loop: at.loop})
	r.nested(b.nested, at)
}

func (r *reader) segment(b *builder, redirs []*syntax.Redirect, fill func(*builder, *segment)) *segment {
	s := &segment{readable: true}
	fill(b, s)
	for _, rd := range redirs {
		t, in, ok := b.redirect(rd)
		if ok {
			s.targets = append(s.targets, t)
		}
		if in != nil {
			s.stdin = in
		}
	}
	s.flat = flatten(s.words)
	if len(s.flat) != len(s.words) && braceWords(s.words) > maxBraceWords {
		b.issue("braces that give too many words")
	}
	return s
}

func braceWords(ws []word) int {
	n := 0
	for i := range ws {
		n += len(ws[i].alts)
	}
	return n
}

// nested reads the commands that stand inside of words.
func (r *reader) nested(subs []nested, at place) {
	for _, n := range subs {
		if n.file != nil {
			r.tokens([]*syntax.Word{n.file}, at, false)
			continue
		}
		r.stmts(n.stmts, at)
	}
}

// text reads a word of which only the commands inside count: a case subject, a pattern, an array's element.
func (r *reader) text(w *syntax.Word, at place) {
	if w == nil {
		return
	}
	b := builder{r: r, collect: true, noBraces: true}
	b.word(w)
	r.nested(b.nested, at)
}

// tokens adds words that count for path scope alone, each in all its readings.
func (r *reader) tokens(ws []*syntax.Word, at place, writes bool) {
	it := item{tokens: make([]word, 0, len(ws)), loop: at.loop}
	var subs []nested
	for _, w := range ws {
		b := builder{r: r, collect: true}
		if at.env != nil {
			b.env, b.used = at.env, map[*binding]bool{}
		}
		stands := b.word(w)
		subs = append(subs, b.nested...)
		if len(b.used) == 0 {
			it.tokens = append(it.tokens, stands)
			continue
		}
		for _, env := range at.env.rounds(b.used) {
			rb := builder{r: r, env: env, round: true}
			it.tokens = append(it.tokens, rb.word(w))
		}
	}
	if writes {
		it.writes = it.tokens
	}
	r.a.add(it)
	r.nested(subs, at)
}

// groupTargets reads the redirections of a whole group.
func (r *reader) groupTargets(redirs []*syntax.Redirect, at place) {
	for _, rd := range redirs {
		b := builder{r: r, collect: true}
		t, in, ok := b.redirect(rd)
		switch {
		case ok:
			r.tokens([]*syntax.Word{rd.Word}, at, t.writes)
		default:
			r.nested(b.nested, at)
		}
		if in != nil {
			r.a.groupInput = append(r.a.groupInput, in)
		}
	}
}

// test reads [[ ]]: a segment of one word, whose operands are path tokens.
func (r *reader) test(c *syntax.TestClause, redirs []*syntax.Redirect, at place) {
	r.segments(redirs, at, func(b *builder, s *segment) {
		s.words = []word{literal("[[")}
		b.test(c.X, s)
	})
}

// test walks a condition. Lists of && and || lean to one side, so the walk does not recurse along them.
func (b *builder) test(x syntax.TestExpr, s *segment) {
	for x != nil {
		switch t := x.(type) {
		case *syntax.Word:
			s.operands = append(s.operands, b.quiet(t))
			return
		case *syntax.ParenTest:
			x = t.X
		case *syntax.UnaryTest:
			if t.Op == syntax.TsVarSet || t.Op == syntax.TsRefVar {
				b.testName(t.X, s)
			}
			x = t.X
		case *syntax.BinaryTest:
			switch t.Op {
			case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
				b.testNumber(t.X)
				b.testNumber(t.Y)
			}
			b.test(t.X, s)
			x = t.Y
		default:
			return
		}
	}
}

// testName looks at the operand of -v and -R, whose subscript Bash evaluates.
func (b *builder) testName(x syntax.TestExpr, s *segment) {
	w, ok := x.(*syntax.Word)
	if !ok {
		return
	}
	q := builder{r: b.r, env: b.env, round: b.round, noBraces: true}
	n := q.word(w)
	if !n.known() || hasByte(n.text, '[') {
		s.issue("a name whose subscript Bash evaluates")
	}
}

// testNumber looks at an operand of -eq and kin, which is arithmetic.
func (b *builder) testNumber(x syntax.TestExpr) {
	if w, ok := x.(*syntax.Word); ok {
		b.arithWord(w)
	}
}

// quiet is a word in which nothing is split and no brace expanded.
func (b *builder) quiet(w *syntax.Word) word {
	old := b.noBraces
	b.noBraces = true
	defer func() { b.noBraces = old }()
	r := b.word(w)
	r.loose = false
	return r
}

// arithCmd reads (( )) and let.
func (r *reader) arithCmd(verb string, xs []syntax.ArithmExpr, redirs []*syntax.Redirect, at place) {
	r.segments(redirs, at, func(b *builder, s *segment) {
		s.words = []word{literal(verb)}
		for _, x := range xs {
			b.arith(x)
		}
	})
}

func hasByte(s string, c byte) bool {
	for i := range len(s) {
		if s[i] == c {
			return true
		}
	}
	return false
}
