package policy

import "strings"

// What becomes of a word of find or fd in section 17b.
const (
	asWord = iota
	asGlob
	leftOut
)

// findLeavesOut says how the values of find's tests count: as globs, and not at all where the test leaves them out.
func (s *segment) findLeavesOut() map[int]int {
	name := s.name()
	ws := s.flat
	out := map[int]int{}
	if name == "fd" || name == "fdfind" {
		for i := 1; i+1 < len(ws); i++ {
			if t := ws[i].text; t == "-E" || t == "--exclude" {
				out[i+1] = leftOut
			}
		}
		for i := 1; i < len(ws); i++ {
			if strings.HasPrefix(ws[i].text, "--exclude=") || strings.HasPrefix(ws[i].text, "-E") && len(ws[i].text) > 2 {
				out[i] = leftOut
			}
		}
		return out
	}
	if name != "find" {
		return nil
	}
	is := func(i int, texts ...string) bool {
		return i > 0 && i < len(ws) && ws[i].plain() && listed(texts, ws[i].text)
	}
	never := false
	for i := 1; i < len(ws); i++ {
		never = never || is(i, "-fprintf", "-depth", "-delete") ||
			is(i, "!", "-not") && is(i+1, "(", "!", "-not")
	}
	for i := 1; i+1 < len(ws); i++ {
		glob := is(i, "-path", "-ipath", "-wholename", "-iwholename", "-name", "-iname")
		if !glob && !is(i, "-regex") {
			continue
		}
		if glob {
			out[i+1] = asGlob
		}
		if never {
			continue
		}
		if is(i-1, "!", "-not") {
			before := i - 2
			dashed := before > 0 && strings.HasPrefix(ws[before].text, "-") && !is(before, "-a", "-o")
			if !dashed && !is(before, "!", "-not") && !orFollows(ws, i+2) {
				out[i+1] = leftOut
			}
			continue
		}
		next := i + 2
		if is(next, ")") {
			next++
		}
		if is(next, "-prune") && is(next+1, "-o", "-or") {
			out[i+1] = leftOut
		}
	}
	return out
}

// orFollows: an -o, -or or comma follows outside of parentheses that open later.
func orFollows(ws []word, i int) bool {
	depth := 0
	for ; i < len(ws); i++ {
		switch ws[i].text {
		case "(":
			depth++
		case ")":
			depth--
		case "-o", "-or", ",":
			if depth <= 0 {
				return true
			}
		}
	}
	return false
}

// asGlobWord reads a word's fixed text as a glob, as find does.
func asGlobWord(w *word) word {
	var es []elem
	for _, p := range w.pieces {
		if p.kind != fixed {
			es = append(es, elem{piece: p})
			continue
		}
		for _, e := range unquotedText(p.text, nil) {
			e.sign = 0
			es = append(es, e)
		}
	}
	return makeWord(characters(globs(es)))
}
