package policy

import (
	"strings"
	"unicode/utf8"
)

// canBe says whether a word can be a text: it is, or it is a glob that matches it. What a parameter or an output
// becomes is not guessed at.
func (w *word) canBe(text string) bool {
	if w.text == text && !w.isOpaque() {
		return true
	}
	if !w.isGlob() || w.open() {
		return false
	}
	return globMatch(w.pieces, text, false)
}

// globMatch says whether pieces can match a text. The signs of a glob never match a slash; with anything, a piece
// that is not known (and find's {}) matches all text.
func globMatch(ps []piece, text string, anything bool) bool {
	type back struct{ piece, text int }
	wide := func(p *piece) bool {
		return anything && (p.kind == param || p.kind == opaque || p.kind == found || p.kind == numeric)
	}
	saved := back{-1, 0}
	savedWide := back{-1, 0}
	i, t := 0, 0
	for {
		if i == len(ps) && t == len(text) {
			return true
		}
		if i < len(ps) {
			p := &ps[i]
			switch {
			case p.kind == star:
				saved = back{i, t}
				i++
				continue
			case wide(p):
				savedWide, saved = back{i, t}, back{-1, 0}
				i++
				continue
			case p.kind == quest || p.kind == class:
				r, n := utf8.DecodeRuneInString(text[t:])
				if n > 0 && r != '/' && (p.kind == quest || classMatch(p.text, r)) {
					i++
					t += n
					continue
				}
			case strings.HasPrefix(text[t:], p.text):
				i++
				t += len(p.text)
				continue
			}
		}
		if saved.piece >= 0 && saved.text < len(text) && text[saved.text] != '/' {
			saved.text++
			i, t = saved.piece+1, saved.text
			continue
		}
		if savedWide.piece >= 0 && savedWide.text < len(text) {
			savedWide.text++
			saved = back{-1, 0}
			i, t = savedWide.piece+1, savedWide.text
			continue
		}
		return false
	}
}

// classMatch says whether a bracket expression can match a character. What it does not understand can.
func classMatch(text string, r rune) bool {
	in := strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	not := strings.HasPrefix(in, "!") || strings.HasPrefix(in, "^")
	if not {
		in = in[1:]
	}
	hit := false
	for first := true; in != ""; first = false {
		if strings.HasPrefix(in, "[:") {
			n := strings.Index(in, ":]")
			if n < 0 {
				return true
			}
			hit = hit || named(in[2:n], r)
			in = in[n+2:]
			continue
		}
		if strings.HasPrefix(in, "[.") || strings.HasPrefix(in, "[=") {
			return true
		}
		lo, n := classRune(in)
		in = in[n:]
		hi := lo
		if !first && false || strings.HasPrefix(in, "-") && len(in) > 1 {
			hi, n = classRune(in[1:])
			in = in[1+n:]
		}
		hit = hit || lo <= r && r <= hi
	}
	return hit != not
}

func classRune(s string) (rune, int) {
	if strings.HasPrefix(s, `\`) && len(s) > 1 {
		r, n := utf8.DecodeRuneInString(s[1:])
		return r, n + 1
	}
	return utf8.DecodeRuneInString(s)
}

// named is a class such as [:alpha:]; outside ASCII everything may be in it.
func named(class string, r rune) bool {
	if r >= utf8.RuneSelf {
		return true
	}
	c := byte(r)
	upper, lower := 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z'
	switch class {
	case "alpha":
		return upper || lower
	case "digit":
		return isDigit(c)
	case "alnum":
		return upper || lower || isDigit(c)
	case "upper":
		return upper
	case "lower":
		return lower
	case "space":
		return strings.IndexByte(" \t\n\v\f\r", c) >= 0
	case "blank":
		return c == ' ' || c == '\t'
	case "xdigit":
		return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
	case "word":
		return isNameByte(c)
	case "cntrl":
		return c < 0x20 || c == 0x7f
	case "punct":
		return c > 0x20 && c < 0x7f && !upper && !lower && !isDigit(c)
	}
	return true
}
