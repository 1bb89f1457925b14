package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// param reads $NAME and ${…} (section 17, class by class).
func (b *builder) param(p *syntax.ParamExp, quoted bool, out []elem) []elem {
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	one := func(k kind, text string, many bool) []elem {
		return append(out, elem{piece: piece{kind: k, text: text, quoted: quoted, many: many}})
	}
	index := ""
	if p.Index != nil {
		var ok bool
		if index, ok = b.index(p.Index); !ok {
			b.issue("an index that Bash evaluates")
			return one(opaque, "${"+name+"[…]}", true)
		}
	}
	switch {
	case p.Param == nil || p.Excl || p.Names != 0 || p.Width || p.IsSet || p.Flags != nil || p.Modifiers != nil || p.NestedParam != nil:
		b.issue("an expansion that is not read")
		b.operands(p, quoted)
		return one(opaque, "${…}", true)
	case p.Length:
		if p.Index != nil && index != "@" && index != "*" {
			b.issue("an expansion that is not read")
		}
		return one(numeric, "${#"+name+"}", false)
	case p.Exp == nil && p.Repl == nil && p.Slice == nil && p.Index == nil:
		switch name {
		case "?", "#", "$", "!":
			return one(numeric, "$"+name, false)
		}
		if es, ok := b.bound(name, quoted); ok {
			return append(out, es...)
		}
		return one(param, "$"+name, name == "@")
	}
	b.operands(p, quoted)
	return one(opaque, "${"+name+"…}", index == "@" || name == "@")
}

// operands looks at what stands behind the name: operators, words with commands in them.
func (b *builder) operands(p *syntax.ParamExp, quoted bool) {
	if (quoted || b.heredoc) && p.Dollar.IsValid() && !p.Short &&
		strings.Contains(b.source(p.Dollar.Offset(), p.Rbrace.Offset(), ""), "'") {
		b.issue("a single quote in a ${…} in double quotes, which shells read differently")
	}
	var words []*syntax.Word
	switch {
	case p.Exp != nil:
		switch p.Exp.Op {
		case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
			syntax.ErrorUnset, syntax.ErrorUnsetOrNull,
			syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.RemSmallPrefix, syntax.RemLargePrefix,
			syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		case syntax.AssignUnset, syntax.AssignUnsetOrNull:
			if p.Param != nil {
				b.r.a.give(p.Param.Value, byOther)
			}
			b.issue("an expansion that assigns")
		default:
			b.issue("an expansion that is not read")
		}
		words = append(words, p.Exp.Word)
	case p.Repl != nil:
		words = append(words, p.Repl.Orig, p.Repl.With)
	case p.Slice != nil:
		for _, x := range []syntax.ArithmExpr{p.Slice.Offset, p.Slice.Length} {
			if x == nil {
				continue
			}
			if w, ok := x.(*syntax.Word); !ok || !isNumber(w.Lit()) {
				b.issue("an offset that Bash evaluates")
				b.arith(x)
			}
		}
	}
	for _, w := range words {
		if w == nil {
			continue
		}
		in := *b
		in.nested, in.noBraces, in.value = nil, true, true
		in.elems(w.Parts, quoted, nil)
		b.nested = append(b.nested, in.nested...)
		if quoted || b.heredoc {
			// Here single quotes quote nothing, whatever the library says.
			for _, part := range w.Parts {
				if q, ok := part.(*syntax.SglQuoted); ok {
					b.again(q.Value)
				}
			}
		}
	}
}

// index reads a subscript: @, * or a plain number; ok is false for everything else, which is arithmetic.
func (b *builder) index(x syntax.ArithmExpr) (string, bool) {
	if w, ok := x.(*syntax.Word); ok {
		if l := w.Lit(); l == "@" || l == "*" || isNumber(l) {
			return l, true
		}
	}
	b.arith(x)
	return "", false
}

// arith looks at an arithmetic expression: Bash evaluates every name in it, and the text of expansions once more.
// The walk does not recurse along the left, to which long sums lean.
func (b *builder) arith(x syntax.ArithmExpr) {
	for x != nil {
		switch t := x.(type) {
		case *syntax.Word:
			b.arithWord(t)
			return
		case *syntax.ParenArithm:
			x = t.X
		case *syntax.UnaryArithm:
			x = t.X
		case *syntax.BinaryArithm:
			b.arith(t.Y)
			x = t.X
		default:
			b.issue("arithmetic that is not read")
			return
		}
	}
}

func (b *builder) arithWord(w *syntax.Word) {
	old, oldBraces := b.value, b.noBraces
	b.value, b.noBraces = true, true
	defer func() { b.value, b.noBraces = old, oldBraces }()
	for _, e := range b.elems(w.Parts, false, nil) {
		switch e.kind {
		case numeric:
		case fixed:
			b.r.a.giveText(e.text)
			if !isConstant(e.text) {
				b.issue("arithmetic that names a variable")
			}
		default:
			b.issue("arithmetic that evaluates the text of an expansion")
		}
	}
}

// isConstant: digits, perhaps with a base, no name.
func isConstant(s string) bool {
	if s == "" {
		return true
	}
	if !isDigit(s[0]) {
		return strings.TrimLeft(s, "+-") != s && isConstant(strings.TrimLeft(s, "+-"))
	}
	for i := range len(s) {
		if !isNameByte(s[i]) && s[i] != '#' && s[i] != '@' {
			return false
		}
	}
	return true
}

// assign reads an assignment in front of a command, or alone.
func (b *builder) assign(as *syntax.Assign) assign {
	out := assign{plain: !as.Append && as.Index == nil && as.Array == nil && !as.Naked}
	if as.Name != nil {
		out.name = as.Name.Value
	}
	b.r.a.give(out.name, byOther)
	if as.Index != nil {
		b.arith(as.Index)
		b.issue("an indexed assignment")
	}
	b.array(as.Array)
	old, oldBraces := b.value, b.noBraces
	b.value, b.noBraces = true, true
	out.value = b.word(as.Value)
	b.value, b.noBraces = old, oldBraces
	out.globby = as.Value != nil && b.globWritten(as.Value.Parts)
	return out
}

func (b *builder) array(a *syntax.ArrayExpr) {
	if a == nil {
		return
	}
	b.issue("an array")
	for _, el := range a.Elems {
		if el.Index != nil {
			b.arith(el.Index)
		}
		if el.Value != nil {
			in := *b
			in.nested = nil
			in.elems(el.Value.Parts, false, nil)
			b.nested = append(b.nested, in.nested...)
		}
	}
}

// globWritten: a * ? or [ stands in a value as written, quotes and ${…} included, commands and plain parameters not.
func (b *builder) globWritten(parts []syntax.WordPart) bool {
	for _, part := range parts {
		found := false
		switch p := part.(type) {
		case *syntax.Lit:
			found = strings.ContainsAny(p.Value, "*?[")
		case *syntax.SglQuoted:
			v := p.Value
			if p.Dollar {
				v, _, _ = decodeANSI(v + "'")
			}
			found = strings.ContainsAny(v, "*?[")
		case *syntax.DblQuoted:
			found = b.globWritten(p.Parts)
		case *syntax.ParamExp:
			if !p.Short && (p.Exp != nil || p.Repl != nil || p.Slice != nil || p.Index != nil) {
				found = strings.ContainsAny(b.source(p.Dollar.Offset(), p.Rbrace.Offset(), "*"), "*?[")
			}
		case *syntax.ExtGlob:
			found = true
		}
		if found {
			return true
		}
	}
	return false
}

// operandAssign makes the word again that stands behind export and kin. Braces in it are expanded like in any word.
func (b *builder) operandAssign(as *syntax.Assign) word {
	var w syntax.Word
	if as.Name != nil {
		t := as.Name.Value
		if as.Index != nil {
			b.arith(as.Index)
			b.issue("an indexed assignment")
			t += "[…]"
		}
		if as.Append {
			t += "+"
		}
		if !as.Naked {
			t += "="
		}
		w.Parts = append(w.Parts, &syntax.Lit{ValuePos: as.Name.ValuePos, ValueEnd: as.Name.ValueEnd, Value: t})
	}
	b.array(as.Array)
	if as.Value != nil {
		w.Parts = append(w.Parts, as.Value.Parts...)
	}
	return b.word(&w)
}

// redirect reads one redirection: its target, or what a here-document hands over. ok is false where it has no target.
func (b *builder) redirect(rd *syntax.Redirect) (t target, stdin *word, ok bool) {
	if rd.N != nil && strings.HasPrefix(rd.N.Value, "{") {
		name := strings.Trim(rd.N.Value, "{}")
		b.r.a.give(name, byOther)
		if !isName(name) {
			b.issue("an indexed name for a descriptor")
		} else if steers(name) {
			b.issue("a name that decides what a verb means")
		}
	}
	switch rd.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if rd.Hdoc == nil {
			w := literal("")
			return t, &w, false
		}
		in := *b
		in.nested, in.noBraces = nil, true
		in.heredoc = !quotedDelimiter(rd.Word)
		var es []elem
		if in.heredoc {
			es = in.elems(rd.Hdoc.Parts, true, nil)
		} else {
			for _, p := range rd.Hdoc.Parts {
				if l, isLit := p.(*syntax.Lit); isLit {
					es = append(es, text(l.Value, true))
				}
			}
		}
		b.nested = append(b.nested, in.nested...)
		w := makeWord(characters(es))
		return t, &w, false
	case syntax.WordHdoc:
		w := b.quiet(rd.Word)
		return t, &w, false
	case syntax.DplIn, syntax.DplOut:
		w := b.word(rd.Word)
		if w.plain() && isDescriptor(w.text) {
			return t, nil, false
		}
		if !w.known() || strings.ContainsAny(w.text, "$`") {
			b.issue("a descriptor that is expanded twice")
		}
		return target{word: w, writes: rd.Op == syntax.DplOut}, nil, true
	}
	w := b.word(rd.Word)
	return target{word: w, writes: rd.Op != syntax.RdrIn}, nil, true
}

// isDescriptor: digits, a dash, or digits and a dash.
func isDescriptor(s string) bool {
	return s == "-" || isNumber(strings.TrimSuffix(s, "-"))
}

func quotedDelimiter(w *syntax.Word) bool {
	for _, p := range w.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok || strings.Contains(l.Value, `\`) {
			return true
		}
	}
	return false
}
