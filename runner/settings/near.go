package settings

import "strings"

// longestName is longer than every name worth comparing; comparing takes time.
const longestName = 100

// nearest gives the name among names that is the fewest letters away from name, or "" when all are far.
func nearest(name string, names []string) string {
	if len(name) > longestName {
		return ""
	}
	best, at := "", len(name)/2+1
	for _, n := range names {
		if d := distance(strings.ToLower(name), n); d < at {
			best, at = n, d
		}
	}
	return best
}

// distance counts the letters to insert, delete, replace or swap with their neighbour to get from a to b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	var before []int
	last, row := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, make([]int, len(y)+1)
	}
	return last[len(y)]
}

// Misspelt is a variable that looks like one of ours with a letter wrong.
type Misspelt struct {
	Variable string
	Meant    string
}

// Misspelt gives the variables in Environ that begin with RUNNER_ and are one letter away from one of ours. Other
// programs use that prefix too, so they are no failure; `doctor` names them.
func (s Sources) Misspelt() []Misspelt {
	known := map[string]bool{}
	for _, r := range Table() {
		known[r.Variable] = true
	}
	var all []Misspelt
	for _, entry := range s.Environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "RUNNER_") || len(name) > longestName || known[name] {
			continue
		}
		for _, r := range Table() {
			if distance(name, r.Variable) == 1 {
				all = append(all, Misspelt{name, r.Variable})
				break
			}
		}
	}
	return all
}
