package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// PlainPOSIX says whether a text holds nothing that other shells read differently from Bash (section 17, plain
// POSIX). A text that does not parse, or is longer than 32,768 bytes, is not.
func PlainPOSIX(text string) bool {
	if len(text) > maxResolved {
		return false
	}
	a := newAnalysis()
	src, stmts, _ := a.parse(text)
	for _, reason := range a.issues {
		if reason != issueUnclosed {
			return false
		}
	}
	p := posix{src: src}
	for _, s := range stmts {
		syntax.Walk(s, p.visit)
	}
	return !p.other
}

type posix struct {
	src   string
	other bool // something else was found
}

func (p *posix) visit(n syntax.Node) bool {
	switch x := n.(type) {
	case *syntax.Redirect:
		p.redirect(x)
	case *syntax.BinaryCmd:
		p.other = p.other || x.Op == syntax.PipeAll
	case *syntax.SglQuoted:
		p.other = p.other || x.Dollar
	case *syntax.DblQuoted:
		p.other = p.other || x.Dollar
	case *syntax.ArithmExp:
		p.other = p.other || x.Bracket
	case *syntax.ProcSubst, *syntax.TestClause, *syntax.ArithmCmd, *syntax.ExtGlob, *syntax.CoprocClause,
		*syntax.CStyleLoop, *syntax.ArrayExpr:
		p.other = true
	case *syntax.ForClause:
		p.other = p.other || x.Select
	case *syntax.FuncDecl:
		p.other = p.other || x.RsrvWord
	case *syntax.CaseItem:
		p.other = p.other || x.Op == syntax.Fallthrough || x.Op == syntax.Resume || x.Op == syntax.ResumeKorn
	case *syntax.Assign:
		p.other = p.other || x.Append || x.Index != nil || x.Array != nil
	case *syntax.CmdSubst:
		p.other = p.other || x.TempFile || x.ReplyVar
	case *syntax.ParamExp:
		p.param(x)
	case *syntax.Word:
		p.braces(x)
	}
	return !p.other
}

func (p *posix) redirect(x *syntax.Redirect) {
	if x.N != nil && len(x.N.Value) != 1 {
		p.other = true
	}
	switch x.Op {
	case syntax.RdrAll, syntax.AppAll, syntax.WordHdoc:
		p.other = true
	case syntax.DplIn, syntax.DplOut:
		l := x.Word.Lit()
		p.other = p.other || l != "-" && (len(l) != 1 || !isDigit(l[0]))
	}
}

func (p *posix) param(x *syntax.ParamExp) {
	if x.Short {
		return
	}
	if x.Param == nil || x.Excl || x.Width || x.Names != 0 || x.Index != nil || x.Slice != nil || x.Repl != nil ||
		x.Flags != nil || x.NestedParam != nil {
		p.other = true
		return
	}
	if x.Exp != nil {
		switch x.Exp.Op {
		case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
			syntax.ErrorUnset, syntax.ErrorUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull,
			syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.RemSmallPrefix, syntax.RemLargePrefix:
		default:
			p.other = true
			return
		}
	}
	from, to := x.Dollar.Offset(), x.Rbrace.Offset()
	if from > to || to > uint(len(p.src)) || strings.ContainsAny(p.src[from:to], "'\"\\") {
		p.other = true
	}
}

func (p *posix) braces(w *syntax.Word) {
	if p.other {
		return
	}
	b := builder{r: &reader{a: newAnalysis(), src: p.src}}
	if made := b.word(w); made.braced {
		p.other = true
	}
}
