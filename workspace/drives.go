package workspace

import (
	"slices"
	"strings"
)

// drives gives the drives of Windows that are themselves among roots, as entries of the folder above them all. It is
// about texts alone.
func drives(roots []string) []Entry {
	found := []Entry{}
	for _, r := range roots {
		if len(r) < 2 || len(r) > 3 || r[1] != ':' || len(r) == 3 && r[2] != '\\' && r[2] != '/' {
			continue
		}
		letter := strings.ToUpper(r[:1])
		if letter < "A" || letter > "Z" {
			continue
		}
		if e := (Entry{letter + `:\`, true}); !slices.Contains(found, e) {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, order)
	return found
}
