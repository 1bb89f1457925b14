package workspace

import (
	"cmp"
	"container/heap"
	"encoding/json"
	"slices"
	"strings"
)

// The defaults of settings.md, `browse.max_entries`.
const (
	defaultEntries = 5_000
	defaultBytes   = 1 << 20
)

// entryFrame is what an entry takes on the wire beside its name: {"nome":,"isDir":false},
const entryFrame = 24

// first keeps the first few of any number of entries, in the order of a Listing. As a heap it has the last of them on
// top.
type first struct {
	most int
	seen int
	kept []Entry
}

func newFirst(most int) *first { return &first{most: cmp.Or(most, defaultEntries), kept: []Entry{}} }

// order is the order of a Listing: folders first, then by name.
func order(a, b Entry) int {
	switch {
	case a.IsDir && !b.IsDir:
		return -1
	case b.IsDir && !a.IsDir:
		return 1
	}
	return strings.Compare(a.Name, b.Name)
}

func (f *first) Len() int           { return len(f.kept) }
func (f *first) Less(i, j int) bool { return order(f.kept[i], f.kept[j]) > 0 }
func (f *first) Swap(i, j int)      { f.kept[i], f.kept[j] = f.kept[j], f.kept[i] }
func (f *first) Push(x any)         { f.kept = append(f.kept, x.(Entry)) }
func (f *first) Pop() any {
	last := f.kept[len(f.kept)-1]
	f.kept = f.kept[:len(f.kept)-1]
	return last
}

// add takes e, or drops it where enough come before it.
func (f *first) add(e Entry) {
	f.seen++
	switch {
	case len(f.kept) < f.most:
		heap.Push(f, e)
	case order(e, f.kept[0]) < 0:
		f.kept[0] = e
		heap.Fix(f, 0)
	}
}

// within gives the kept entries in order, as many as fit into bytes of JSON. It ends the use of f.
func (f *first) within(bytes int) []Entry {
	left := cmp.Or(bytes, defaultBytes)
	slices.SortFunc(f.kept, order)
	for i, e := range f.kept {
		name, err := json.Marshal(e.Name)
		if left -= len(name) + entryFrame; err != nil || left < 0 {
			return f.kept[:i]
		}
	}
	return f.kept
}
