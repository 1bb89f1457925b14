package policy

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// coproc reads a coprocess. To Bash the first word is a name only where a compound command follows; the grammar library
// takes it for one also in front of a pipe, of redirections alone, and of what it parses by itself (declare, let, time).
func (r *reader) coproc(c *syntax.CoprocClause, at place) {
	first := leftmost(c.Stmt)
	if name := c.Name; name != nil {
		switch cmd := first.Cmd.(type) {
		case nil:
			first.Cmd, c.Name = &syntax.CallExpr{Args: []*syntax.Word{name}}, nil
		case *syntax.CallExpr:
			cmd.Args, c.Name = append([]*syntax.Word{name}, cmd.Args...), nil
		case *syntax.Block, *syntax.Subshell, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause,
			*syntax.ArithmCmd, *syntax.TestClause:
			r.a.give(name.Lit(), byOther)
			if name.Lit() == "" || steers(name.Lit()) {
				r.a.issue("a name that decides what a verb means")
			}
		default:
			r.a.issue("a coprocess whose command is not read whole")
			r.simple(nil, []*syntax.Word{name}, nil, at)
		}
	}
	if c.Name == nil {
		r.a.give("COPROC", byOther)
	}
	if call, ok := first.Cmd.(*syntax.CallExpr); ok {
		if !lateAssigns(call) {
			r.a.issue("a coprocess whose command is not read whole")
		}
		frontAssigns(call)
	}
	r.stmt(c.Stmt, at, nil)
}

// leftmost is the first command of a pipeline.
func leftmost(s *syntax.Stmt) *syntax.Stmt {
	for {
		pipe, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok {
			return s
		}
		s = pipe.X
	}
}

// lateAssigns makes assignments that stand behind the first word into the words that they are to Bash: the library took
// that word for the name of the coprocess when it read them. False: one of them is of an array, which is no word.
func lateAssigns(c *syntax.CallExpr) (whole bool) {
	if len(c.Args) == 0 {
		return true
	}
	whole = true
	var late []*syntax.Word
	c.Assigns = slices.DeleteFunc(c.Assigns, func(as *syntax.Assign) bool {
		if as.Pos().Offset() < c.Args[0].Pos().Offset() {
			return false
		}
		if as.Array != nil || as.Index != nil || as.Name == nil {
			whole = false
			return true
		}
		text := as.Name.Value + "="
		if as.Append {
			text = as.Name.Value + "+="
		}
		w := &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{ValuePos: as.Name.ValuePos, ValueEnd: as.Name.ValueEnd, Value: text}}}
		if as.Value != nil {
			w.Parts = append(w.Parts, as.Value.Parts...)
		}
		late = append(late, w)
		return true
	})
	c.Args = slices.Insert(c.Args, 1, late...)
	return whole
}
