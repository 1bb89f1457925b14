package policy

import (
	"fmt"
	"slices"
	"strings"
)

// duplicates reports entries that say again what one in front of them says in the same list.
func duplicates(entries []lintEntry) (reports []Report) {
	type key struct {
		list List
		said string
	}
	first := map[key]lintEntry{}
	for _, e := range entries {
		k := key{e.list, e.said()}
		before, ok := first[k]
		if !ok {
			first[k] = e
			continue
		}
		sentence := "it repeats the entry in line %d"
		if before.text != e.text {
			sentence = "it means the same as the entry in line %d"
		}
		reports = append(reports, e.report(Note, Duplicate, sentence, before.at.Line))
	}
	return reports
}

// said is what the entry speaks about, the same for two spellings of it.
func (e lintEntry) said() string {
	if e.pattern.Inert != "" {
		return "inert " + e.text
	}
	return e.pattern.Type + wordsKey(e.pattern.Words)
}

// wordsKey tells words from other words; no word can hold what stands between them.
func wordsKey(words []PatternWord) string {
	var b strings.Builder
	for _, w := range words {
		fmt.Fprintf(&b, " %q", w.Text)
		if w.Star {
			b.WriteByte('*')
		}
	}
	return b.String()
}

// contradictions reports entries that can never take effect, because all that they match is matched by one of a
// stronger list.
func contradictions(entries []lintEntry) (reports []Report) {
	for _, pair := range []struct{ strong, weak List }{{ListDeny, ListAsk}, {ListDeny, ListAllow}, {ListAsk, ListAllow}} {
		strong := newCoverage(entries, pair.strong)
		for _, e := range entries {
			if e.list != pair.weak || e.pattern.Inert != "" {
				continue
			}
			if over, ok := strong.over(e.pattern); ok {
				reports = append(reports, e.report(Warning, Contradiction, "it has no effect: %s holds %q in line %d", pair.strong, over.text, over.at.Line))
			}
		}
	}
	return reports
}

// coverage answers which entry of a list matches everything that a pattern matches. Entries without a star stand in a
// tree of words, so that two long lists are not compared each with each.
type coverage struct {
	plain   map[string]*wordTree // by type
	starred []lintEntry
}

type wordTree struct {
	entry *lintEntry // the first that ends here
	next  map[string]*wordTree
}

func newCoverage(entries []lintEntry, list List) coverage {
	c := coverage{plain: map[string]*wordTree{}}
	for _, e := range entries {
		switch {
		case e.list != list || e.pattern.Inert != "":
		case slices.ContainsFunc(e.pattern.Words, func(w PatternWord) bool { return w.Star }):
			c.starred = append(c.starred, e)
		default:
			c.insert(e)
		}
	}
	return c
}

func (c coverage) insert(e lintEntry) {
	node := c.plain[e.pattern.Type]
	if node == nil {
		node = &wordTree{}
		c.plain[e.pattern.Type] = node
	}
	for _, w := range e.pattern.Words {
		if node.next == nil {
			node.next = map[string]*wordTree{}
		}
		if node.next[w.Text] == nil {
			node.next[w.Text] = &wordTree{}
		}
		node = node.next[w.Text]
	}
	if node.entry == nil {
		node.entry = &e
	}
}

func (c coverage) over(p Pattern) (lintEntry, bool) {
	node := c.plain[p.Type]
	for n := 0; node != nil; n++ {
		if node.entry != nil {
			return *node.entry, true
		}
		if n == len(p.Words) || p.Words[n].Star {
			break // from here on only a star covers it
		}
		node = node.next[p.Words[n].Text]
	}
	for _, e := range c.starred {
		if covers(e.pattern.Words, p.Words) {
			return e, true
		}
	}
	return lintEntry{}, false
}

// covers reports whether every segment that weak matches is one that strong matches, word by word.
func covers(strong, weak []PatternWord) bool {
	if len(strong) > len(weak) {
		return false
	}
	for i, s := range strong {
		w := weak[i]
		if s.Star && !strings.HasPrefix(w.Text, s.Text) || !s.Star && (w.Star || w.Text != s.Text) {
			return false
		}
	}
	return true
}
