package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"brabo.dev/runner/runner/failure"
)

// builtinDenies are in force whatever the file says (section 6).
var builtinDenies = []string{"Terminal(rm -rf /)", "Terminal(rm -rf /*)", "Terminal(rm -fr /)"}

// Decide answers for plain commands: lists and pipelines of words that are written out. A deny that matches any of
// them denies, an allow for all of them approves, and everything else asks.
func Decide(a Action, _ Role, _ Autonomy, p Permissions, _ Context) (Decision, error) {
	if _, known := typeNamed(a.Type); !known {
		return Decision{}, failure.New(failure.UnknownActionType, a.Type)
	}
	if d, denied := RecheckDeny(a, p, Context{}); denied {
		return d, nil
	}
	segments, plain := plainSegments(a.Command)
	if a.Type != "terminal" || !plain || len(segments) == 0 {
		return Decision{RequireApproval, "default", "nothing that was written down decides about this action"}, nil
	}
	var entries []string
	for _, s := range segments {
		if slices.ContainsFunc(p.Ask, func(e string) bool { return prefixOf(e, s) }) {
			return Decision{RequireApproval, "file_ask", "an entry of `ask` is about " + s[0]}, nil
		}
		i := slices.IndexFunc(p.Allow, func(e string) bool { return prefixOf(e, s) })
		if i < 0 {
			return Decision{RequireApproval, "default", "no entry is about " + s[0]}, nil
		}
		entries = append(entries, p.Allow[i])
	}
	rule := Rule("file_allow")
	if len(segments) > 1 {
		rule = "compound_all_allowed"
	}
	return Decision{AutoApprove, rule, "allowed by " + strings.Join(entries, ", ")}, nil
}

// RecheckDeny applies the deny rules alone.
func RecheckDeny(a Action, p Permissions, _ Context) (Decision, bool) {
	segments, _ := plainSegments(a.Command)
	for _, s := range segments {
		for _, e := range builtinDenies {
			if prefixOf(e, s) {
				return Decision{Deny, "builtin_deny", e + " is denied always"}, true
			}
		}
		for _, e := range p.Deny {
			if prefixOf(e, s) {
				return Decision{Deny, "file_deny", "denied by " + e}, true
			}
		}
	}
	return Decision{}, false
}

// PlainPOSIX reports whether text parses as POSIX shell.
func PlainPOSIX(text string) bool {
	_, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), "")
	return err == nil
}

// maxPlain is the longest text that is read, in bytes.
const maxPlain = 32768

// plainSegments gives the simple commands of text, and whether text holds nothing else than words written out.
func plainSegments(text string) (segments [][]string, plain bool) {
	if len(text) > maxPlain {
		return nil, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, false
	}
	plain = true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			var words []string
			for _, w := range n.Args {
				word, known := written(w)
				words, plain = append(words, word), plain && known
			}
			if plain = plain && len(n.Assigns) == 0; len(words) > 0 {
				segments = append(segments, words)
			}
		case *syntax.Redirect:
			plain = false
		case nil, *syntax.File, *syntax.Stmt, *syntax.BinaryCmd, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted, *syntax.ParamExp:
		default:
			plain = false
		}
		return true
	})
	return segments, plain
}

// written is a word's text, and whether all of it is written out; a parameter in double quotes is one word, whose text
// matters to no entry.
func written(w *syntax.Word) (string, bool) {
	var b strings.Builder
	known := true
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(part.Value)
			known = known && !strings.ContainsAny(part.Value, `\*?[{~`)
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
			known = known && !part.Dollar
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					b.WriteString(lit.Value)
					known = known && !strings.Contains(lit.Value, `\`)
					continue
				}
				_, parameter := inner.(*syntax.ParamExp)
				known = known && parameter && b.Len() == 0
			}
		default:
			known = false
		}
	}
	return b.String(), known
}

// prefixOf reports whether a Terminal entry is a prefix of the words.
func prefixOf(entry string, words []string) bool {
	content, found := strings.CutPrefix(entry, "Terminal(")
	content, closed := strings.CutSuffix(content, ")")
	want := strings.Fields(content)
	return found && closed && len(want) > 0 && len(want) <= len(words) && slices.Equal(want, words[:len(want)])
}
