package policy

import "slices"

// deniedAnyway reports whether the built-in denies hold everything that a pattern of those words matches. What stands
// behind the first star is open, so it is not counted on.
func deniedAnyway(words []PatternWord) bool {
	if n := slices.IndexFunc(words, func(w PatternWord) bool { return w.Star }); n >= 0 {
		words = words[:n]
	}
	for _, b := range []string{"Terminal(rm -rf /)", "Terminal(rm -rf /*)", "Terminal(rm -fr /)"} {
		if covers(ParsePattern(b).Words, words) {
			return true
		}
	}
	return false
}
