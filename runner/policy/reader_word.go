package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// nested is what runs inside of a word: statements, or the FILE of $(<FILE).
type nested struct {
	stmts []*syntax.Stmt
	file  *syntax.Word
}

// builder makes words out of the grammar's. It works on one segment, once as it stands and once for each reading.
type builder struct {
	r       *reader
	collect bool // note the commands inside
	nested  []nested

	env   *binding          // loops around
	round bool              // env holds the words of one round: parameters are replaced
	used  map[*binding]bool // as it stands: the loops whose words would be used

	noBraces bool // braces are characters here
	value    bool // an assigned value or arithmetic: parameters stay
	heredoc  bool
}

// word reads one word: quotes off, braces expanded.
func (b *builder) word(w *syntax.Word) word {
	if w == nil {
		return literal("")
	}
	if len(w.Parts) == 1 {
		if l, ok := w.Parts[0].(*syntax.Lit); ok && !strings.ContainsAny(l.Value, "\\{}*?[~") {
			return literal(l.Value)
		}
	}
	es := b.elems(w.Parts, false, nil)
	if len(es) == 0 {
		return literal("")
	}
	tilde(es)
	if !b.noBraces {
		br := bracer{left: maxBraceWords}
		lists, braced := br.expand(es, 0)
		if br.over {
			b.issue("braces that give too many words")
		}
		if braced {
			out := makeWord(characters(es))
			out.braced = true
			for _, l := range lists {
				if len(l) == 0 {
					continue // nothing at all is no word
				}
				tilde(l)
				out.alts = append(out.alts, makeWord(characters(globs(l))))
			}
			out.loose = false
			for i := range out.alts {
				out.loose = out.loose || out.alts[i].loose
				out.has |= out.alts[i].has
			}
			return out
		}
	}
	out := makeWord(characters(globs(es)))
	if len(w.Parts) == 1 {
		_, out.pipe = w.Parts[0].(*syntax.ProcSubst)
	}
	return out
}

func (b *builder) issue(reason string) { b.r.a.issue(reason) }

// elems flattens the parts of a word.
func (b *builder) elems(parts []syntax.WordPart, quoted bool, out []elem) []elem {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			switch {
			case b.heredoc:
				out = append(out, text(unescape(p.Value, "$`\\"), true))
			case quoted:
				out = append(out, text(unescape(p.Value, "$`\"\\"), true))
			default:
				out = unquotedText(p.Value, out)
			}
		case *syntax.SglQuoted:
			v := p.Value
			if p.Dollar {
				v, _, _ = decodeANSI(v + "'")
				b.r.a.checkText(v)
			}
			out = append(out, text(v, true))
		case *syntax.DblQuoted:
			if p.Dollar {
				b.issue("a text that may be translated")
			}
			n := len(out)
			if out = b.elems(p.Parts, true, out); len(out) == n {
				out = append(out, text("", true))
			}
		case *syntax.ParamExp:
			out = b.param(p, quoted, out)
		case *syntax.CmdSubst:
			b.subst(p)
			out = append(out, elem{piece: piece{kind: opaque, text: "$(…)", quoted: quoted}})
		case *syntax.ProcSubst:
			b.inside(nested{stmts: p.Stmts})
			t := "<(…)"
			if p.Op == syntax.CmdOut {
				t = ">(…)"
			}
			out = append(out, elem{piece: piece{kind: opaque, text: t, quoted: quoted}})
		case *syntax.ArithmExp:
			if p.Bracket {
				b.issue("arithmetic of the old form $[…]")
			}
			b.arith(p.X)
			out = append(out, elem{piece: piece{kind: numeric, text: "$((…))", quoted: quoted}})
		case *syntax.ExtGlob:
			b.issue("an extended glob")
			b.again(p.Pattern.Value)
			out = append(out, elem{piece: piece{kind: star, text: b.source(p.Pos().Offset(), p.End().Offset(), "*")}})
		default:
			b.issue("a part of a word that is not read")
		}
	}
	return out
}

func text(s string, quoted bool) elem {
	return elem{piece: piece{kind: fixed, text: s, quoted: quoted}}
}

func (b *builder) inside(n nested) {
	if b.collect {
		b.nested = append(b.nested, n)
	}
}

// subst reads $(…) and backticks.
func (b *builder) subst(c *syntax.CmdSubst) {
	if c.TempFile || c.ReplyVar {
		b.issue("a substitution that not every Bash knows")
	}
	if c.Backquotes && strings.Contains(b.source(c.Left.Offset(), c.Right.Offset(), ""), `\`) {
		b.issue("a backslash inside backticks")
	}
	if len(c.Stmts) == 1 {
		s := c.Stmts[0]
		if s.Cmd == nil && !s.Negated && !s.Background && len(s.Redirs) == 1 && s.Redirs[0].Op == syntax.RdrIn && s.Redirs[0].N == nil {
			b.inside(nested{file: s.Redirs[0].Word})
			return
		}
	}
	b.inside(nested{stmts: c.Stmts})
}

// source is the text between two offsets, or def where they do not fit: the library drops some characters.
func (b *builder) source(from, to uint, def string) string {
	if from > to || to > uint(len(b.r.src)) {
		return def
	}
	return b.r.src[from:to]
}

// again looks for commands in a text that the library took for data although Bash expands it (section 17c).
func (b *builder) again(text string) {
	if !strings.ContainsAny(text, "$`") || !b.collect {
		return
	}
	w, err := newParser().Document(strings.NewReader(text))
	if err != nil {
		b.issue("a text inside of a word that does not parse")
	}
	if w == nil {
		return
	}
	// The offsets of w are those of text, so its source is not looked at.
	in := builder{r: &reader{a: b.r.a, src: text, depth: b.r.depth, top: b.r.top}, collect: true, heredoc: true}
	in.elems(w.Parts, true, nil)
	b.nested = append(b.nested, in.nested...)
}

// unescape takes the backslash off the given characters.
func unescape(s, which string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte(which, s[i+1]) >= 0 {
			i++
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// unquotedText reads unquoted characters: escapes off, the signs of braces and globs apart.
func unquotedText(s string, out []elem) []elem {
	from := 0
	flush := func(to int) {
		if from < to {
			out = append(out, text(s[from:to], false))
		}
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			flush(i)
			i++
			if i == len(s) {
				out = append(out, text(`\`, true))
			} else {
				n := 1
				for i+n < len(s) && s[i+n]&0xc0 == 0x80 {
					n++ // the whole character
				}
				out = append(out, text(s[i:i+n], true))
				i += n - 1
			}
			from = i + 1
		case '{', '}', ',':
			flush(i)
			out = append(out, elem{piece: piece{kind: fixed, text: s[i : i+1]}, sign: c})
			from = i + 1
		case '*', '?', '[', ']', '~':
			flush(i)
			out = append(out, text(s[i:i+1], false))
			from = i + 1
		}
	}
	flush(len(s))
	return out
}

// tilde marks an unquoted tilde in front.
func tilde(es []elem) {
	if len(es) > 0 && es[0].kind == fixed && !es[0].quoted && es[0].text == "~" {
		es[0].kind = home
	}
}

// globs marks the unquoted signs of globs; a [ is one if a ] of the same word closes it.
func globs(es []elem) []elem {
	last := -1
	any := false
	for i := range es {
		if es[i].kind == fixed && !es[i].quoted && !es[i].loop {
			switch es[i].text {
			case "]":
				last = i
			case "*", "?", "[":
				any = true
			}
		}
	}
	if !any {
		return es
	}
	out := make([]elem, 0, len(es))
	for i := 0; i < len(es); i++ {
		e := es[i]
		if e.kind != fixed || e.quoted || e.loop {
			out = append(out, e)
			continue
		}
		switch e.text {
		case "*":
			e.kind = star
		case "?":
			e.kind = quest
		case "[":
			if end := classEnd(es, i, last); end > 0 {
				e.kind = class
				var t strings.Builder
				for j := i; j <= end; j++ {
					t.WriteString(classText(es[j]))
				}
				e.text = t.String()
				out = append(out, e)
				for j := i + 1; j < end; j++ { // what is not known inside stays so
					if k := es[j].kind; k == param || k == opaque {
						out = append(out, elem{piece: piece{kind: k, quoted: es[j].quoted, many: es[j].many}})
					}
				}
				i = end
				continue
			}
		}
		out = append(out, e)
	}
	return out
}

// classText is an element inside of a bracket expression: what is quoted there stands for itself.
func classText(e elem) string {
	if !e.quoted || e.kind != fixed {
		return e.text
	}
	var b strings.Builder
	for i := range len(e.text) {
		if strings.IndexByte(`]^!-\[`, e.text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(e.text[i])
	}
	return b.String()
}

// classEnd finds the ] that closes the bracket at i; a ] directly behind the opening is a member.
func classEnd(es []elem, i, last int) int {
	j := i + 1
	if j < len(es) && !es[j].quoted && es[j].kind == fixed && (es[j].text == "!" || es[j].text == "^") {
		j++
	}
	if j < len(es) && !es[j].quoted && es[j].text == "]" {
		j++
	}
	posix := false
	for ; j <= last; j++ {
		if es[j].quoted || es[j].kind != fixed {
			continue
		}
		switch {
		case es[j].text == "[" && j+1 < len(es) && !es[j+1].quoted && strings.HasPrefix(es[j+1].text, ":"):
			posix = true
		case es[j].text == "]" && posix:
			posix = false // closes [:name:]
		case es[j].text == "]":
			return j
		}
	}
	if last > i+1 {
		return last // a class in it that nothing closes: take it for a glob
	}
	return -1
}

// characters drops the signs, which are characters from here on, and joins neighbours.
func characters(es []elem) []piece {
	out := make([]piece, 0, len(es))
	for _, e := range es {
		if n := len(out); n > 0 && e.kind == fixed && out[n-1].kind == fixed && out[n-1].loop == e.loop {
			if len(out[n-1].text) < 256 || len(e.text) > 64 {
				out[n-1].text += e.text
				out[n-1].quoted = out[n-1].quoted && e.quoted
				continue
			}
		}
		out = append(out, e.piece)
	}
	return out
}
