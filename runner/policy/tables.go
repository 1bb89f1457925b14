package policy

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// The tables are data that a person can read; a row says where it comes from.
var (
	//go:embed tables/wrappers.txt
	wrappersText string
	//go:embed tables/verbs.txt
	verbsText string
	//go:embed tables/external.txt
	externalText string
	//go:embed tables/seeded.txt
	seededText string
	//go:embed tables/effects.txt
	effectsText string
)

// tables are all tables, parsed once.
type tables struct {
	wrappers map[string]*options
	groups   map[string][]string     // verbs.txt: the groups of a verb; most verbs of a text have none
	external map[string][]external   // by verb
	prefixes []external              // in the order of the table
	effects  map[string][]*effectRow // by verb
}

// external is a prefix of section 8.
type external struct {
	way    string
	pieces []PatternWord
	words  []string
}

// options is what is known about a program's options.
type options struct {
	letters, values, glued       string
	longs, longValues, longGlued []string
	through, bare                bool
}

var theTables = sync.OnceValue(func() *tables {
	t := &tables{
		wrappers: map[string]*options{},
		groups:   map[string][]string{},
		external: map[string][]external{},
		effects:  map[string][]*effectRow{},
	}
	for _, c := range rows(wrappersText) {
		t.wrappers[c[0]] = &options{
			letters: c[1], values: c[2], glued: c[3],
			longs: strings.Fields(c[4]), longValues: strings.Fields(c[5]), longGlued: strings.Fields(c[6]),
			through: c[7] != "", bare: c[7] == "bare",
		}
	}
	for _, c := range rows(verbsText) {
		for _, v := range strings.Fields(c[1]) {
			t.groups[v] = append(t.groups[v], c[0])
		}
	}
	for _, c := range rows(externalText) {
		e := external{way: c[0], words: strings.Fields(c[1])}
		for _, w := range e.words {
			e.pieces = append(e.pieces, PatternWord{Text: w})
		}
		t.external[e.words[0]] = append(t.external[e.words[0]], e)
		t.prefixes = append(t.prefixes, e)
	}
	for _, c := range rows(effectsText) {
		r := effectRowOf(c)
		for _, v := range r.verbs {
			t.effects[v] = append(t.effects[v], r)
		}
	}
	return t
})

// rows splits a table into its rows and columns; a line that begins with # is none.
func rows(text string) [][]string {
	var out [][]string
	for _, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		cells := strings.Split(line, "|")
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " ")
		}
		out = append(out, cells)
	}
	return out
}

// in says whether a verb stands in a group of verbs.txt.
func in(group, verb string) bool { return slices.Contains(theTables().groups[verb], group) }

// isWrapper says whether a verb stands in the table of wrappers.
func isWrapper(verb string) bool {
	for _, group := range theTables().groups[verb] {
		switch group {
		case "carrier", "shell", "shell-only", "unread":
			return true
		}
	}
	return false
}

// Seeded gives the two lists that activating execution writes into allow (section 10), in order.
func Seeded() (source, ours []string) {
	for _, c := range rows(seededText) {
		for _, t := range strings.Split(c[1], "  ") {
			if t = strings.TrimSpace(t); t == "" {
				continue
			}
			if c[0] == "source" {
				source = append(source, "Terminal("+t+")")
			} else {
				ours = append(ours, "Terminal("+t+")")
			}
		}
	}
	return source, ours
}
