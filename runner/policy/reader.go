package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// reader turns one parsed text into items. Several readers work on one reading: one for each program text.
type reader struct {
	a     *analysis
	src   string
	depth int  // wrappers and program texts around this text
	top   bool // what it finds is written
}

// place is where in the text a statement stands.
type place struct {
	env  *binding // the unrolled loops around it, innermost first
	loop int      // see item.loop
}

func (r *reader) stmts(stmts []*syntax.Stmt, at place) {
	for _, s := range stmts {
		r.stmt(s, at, nil)
	}
}

// stmt reads one statement; fix corrects a simple command that the library reads wrongly, or is nil.
func (r *reader) stmt(s *syntax.Stmt, at place, fix func(*syntax.CallExpr)) {
	if s == nil {
		return
	}
	if s.Coprocess || s.Disown {
		r.a.issue("an operator that Bash does not have")
	}
	switch c := s.Cmd.(type) {
	case nil:
		r.simple(nil, nil, s.Redirs, at)
	case *syntax.CallExpr:
		if fix != nil {
			fix(c)
		}
		r.simple(c.Assigns, c.Args, s.Redirs, at)
	case *syntax.DeclClause:
		r.decl(c, s.Redirs, at)
	case *syntax.TestClause:
		r.test(c, s.Redirs, at)
	case *syntax.ArithmCmd:
		r.arithCmd("((", []syntax.ArithmExpr{c.X}, s.Redirs, at)
	case *syntax.LetClause:
		r.arithCmd("let", c.Exprs, s.Redirs, at)
	case *syntax.TimeClause:
		r.time(c, s.Redirs, at)
	default:
		r.compound(s.Cmd, at)
		r.groupTargets(s.Redirs, at)
	}
}

func (r *reader) compound(cmd syntax.Command, at place) {
	switch c := cmd.(type) {
	case *syntax.BinaryCmd:
		r.binary(c, at)
	case *syntax.Subshell:
		r.stmts(c.Stmts, at)
	case *syntax.Block:
		r.stmts(c.Stmts, at)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			r.stmts(c.Cond, at)
			r.stmts(c.Then, at)
		}
	case *syntax.WhileClause:
		in := r.inLoop(at)
		r.stmts(c.Cond, in)
		r.stmts(c.Do, in)
	case *syntax.ForClause:
		r.loop(c, at)
	case *syntax.CaseClause:
		r.text(c.Word, at)
		for _, it := range c.Items {
			for _, p := range it.Patterns {
				r.text(p, at)
			}
			r.stmts(it.Stmts, at)
		}
	case *syntax.FuncDecl:
		r.a.issue("a function declaration: a name no longer means what it says")
		r.a.opaqueNames = true
		r.stmt(c.Body, r.inLoop(at), nil)
	case *syntax.CoprocClause:
		r.coproc(c, at)
	default:
		r.a.issue("a construct that is not read")
	}
}

// binary walks a list or pipeline, which leans to the left, without recursing along it.
func (r *reader) binary(c *syntax.BinaryCmd, at place) {
	var right []*syntax.Stmt
	var redirs [][]*syntax.Redirect
	for {
		right = append(right, c.Y)
		x := c.X
		next, ok := x.Cmd.(*syntax.BinaryCmd)
		if !ok {
			r.stmt(x, at, nil)
			break
		}
		redirs = append(redirs, x.Redirs)
		c = next
	}
	r.a.items = slices.Grow(r.a.items, len(right)+1)
	for i := len(right) - 1; i >= 0; i-- {
		r.stmt(right[i], at, nil)
	}
	for _, rs := range redirs {
		r.groupTargets(rs, at)
	}
}

// inLoop is at, inside of a loop or function that begins here.
func (r *reader) inLoop(at place) place {
	if at.loop < 0 {
		at.loop = len(r.a.items)
		r.a.items = append(r.a.items, item{loop: at.loop})
	}
	return at
}

// frontAssigns makes the leading words that have the form of an assignment into assignments: the grammar library
// takes them for words behind coproc and "time --" (section 17c).
func frontAssigns(c *syntax.CallExpr) {
	for len(c.Args) > 0 {
		first, ok := c.Args[0].Parts[0].(*syntax.Lit)
		if !ok {
			return
		}
		name, value, ok := strings.Cut(first.Value, "=")
		plus := strings.HasSuffix(name, "+")
		if !ok || !isName(strings.TrimSuffix(name, "+")) {
			return
		}
		v := &syntax.Word{}
		if value != "" {
			v.Parts = append(v.Parts, &syntax.Lit{ValuePos: first.ValuePos, ValueEnd: first.ValueEnd, Value: value})
		}
		v.Parts = append(v.Parts, c.Args[0].Parts[1:]...)
		as := &syntax.Assign{Append: plus, Name: &syntax.Lit{ValuePos: first.ValuePos, Value: strings.TrimSuffix(name, "+")}}
		if len(v.Parts) > 0 {
			as.Value = v
		}
		c.Assigns = append(c.Assigns, as)
		c.Args = c.Args[1:]
	}
}

// time reads the reserved word time, a wrapper whose own segment holds the words of what it carries, if that is one
// simple command.
func (r *reader) time(c *syntax.TimeClause, redirs []*syntax.Redirect, at place) {
	own := []word{literal("time")}
	if c.PosixFormat {
		own = append(own, literal("-p"))
	}
	seg := &segment{words: own, flat: own, time: true, wrapper: true, carried: make([]bool, len(own)), through: true}
	u := &unit{stands: seg, readings: []*segment{seg}, written: r.top}
	if c.Stmt == nil || c.Stmt.Cmd == nil {
		seg.through = false
		seg.wrapper = false
		r.a.add(item{unit: u, loop: at.loop})
		if c.Stmt != nil {
			redirs = append(append([]*syntax.Redirect{}, c.Stmt.Redirs...), redirs...)
		}
		r.groupTargets(redirs, at)
		return
	}
	call, ok := c.Stmt.Cmd.(*syntax.CallExpr)
	if !ok {
		r.a.add(item{unit: u, loop: at.loop})
		r.stmt(c.Stmt, at, nil)
		r.groupTargets(redirs, at)
		return
	}
	if len(call.Args) > 0 && call.Args[0].Lit() == "--" {
		own = append(own, literal("--"))
		call.Args = call.Args[1:]
		frontAssigns(call)
	}
	b := builder{r: r}
	carried := make([]bool, len(own), len(own)+len(call.Args))
	if len(call.Assigns) == 0 {
		for _, w := range call.Args {
			own = append(own, b.word(w))
		}
	}
	for range len(own) - len(carried) {
		carried = append(carried, true)
	}
	seg.words, seg.flat = own, flatten(own)
	if len(seg.flat) != len(own) {
		n := len(carried)
		carried = make([]bool, len(seg.flat))
		for i := n - len(call.Args); i < len(carried); i++ {
			carried[i] = true
		}
	}
	seg.carried = carried
	r.a.add(item{unit: u, loop: at.loop})
	r.stmt(c.Stmt, at, nil)
	r.groupTargets(redirs, at)
}
