package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxPlain bounds the texts that plainStatement looks at, in bytes; it keeps columns well below what a position holds.
const maxPlain = 4096

// plainStatement is what the library's parser makes of a text of bare words on one line, as most commands are. The
// parser would make room for 32 words and more each time, which a text of very many small parts can't afford. It is nil
// for every text that may mean anything else.
func plainStatement(text string) *syntax.Stmt {
	n := plainWords(text)
	if n == 0 {
		return nil
	}
	lits, words := make([]syntax.Lit, 0, n), make([]syntax.Word, 0, n)
	parts, call := make([]syntax.WordPart, 0, n), &syntax.CallExpr{Args: make([]*syntax.Word, 0, n)}
	for i, from := 0, -1; i <= len(text); i++ {
		switch inWord := i < len(text) && text[i] != ' '; {
		case inWord && from < 0:
			from = i
		case !inWord && from >= 0:
			lits = append(lits, syntax.Lit{ValuePos: onFirstLine(from), ValueEnd: onFirstLine(i), Value: text[from:i]})
			parts = append(parts, &lits[len(lits)-1])
			words = append(words, syntax.Word{Parts: parts[len(parts)-1:]})
			call.Args = append(call.Args, &words[len(words)-1])
			from = -1
		}
	}
	if first := lits[0].Value; syntax.IsKeyword(first) || clause(first) {
		return nil
	}
	return &syntax.Stmt{Cmd: call, Position: lits[0].ValuePos}
}

func onFirstLine(at int) syntax.Pos { return syntax.NewPos(uint(at), 1, uint(at)+1) }

// plainWords counts the words of a text in which no character has a meaning to a shell but the space; 0 for all others.
func plainWords(text string) (n int) {
	if len(text) > maxPlain {
		return 0
	}
	between := true
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ':
			between = true
			continue
		case isLetter(c), '0' <= c && c <= '9', strings.IndexByte("_-./:,", c) >= 0:
		default:
			return 0
		}
		if between {
			n++
		}
		between = false
	}
	return n
}

// clause: behind this word the library reads assignments or arithmetic, although Bash calls it a builtin.
func clause(word string) bool {
	switch word {
	case "declare", "export", "let", "local", "nameref", "readonly", "typeset":
		return true
	}
	return false
}
