package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// benchmarksOf gives, for each benchmark of a package, the metrics that its file reports.
func benchmarksOf(t *testing.T, folder string) map[string]map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]map[string]bool{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		metrics := map[string]bool{"ns/op": true}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					metrics[text] = true
				}
			}
			return true
		})
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "Benchmark") {
				found[fn.Name.Name] = metrics
			}
		}
	}
	return found
}

func TestEachFigureHasItsBenchmarkAndMetric(t *testing.T) {
	texts := map[string]bool{}
	for _, f := range figures() {
		metrics, ok := benchmarksOf(t, filepath.Join("../..", f.bench.pkg))[f.bench.name]
		if !ok || !metrics[f.metric] {
			t.Errorf("%s: no %s in %s reports %s", f.text, f.bench.name, f.bench.pkg, f.metric)
		}
		for _, a := range f.beside {
			if !metrics[a.metric] || a.words == "" {
				t.Errorf("%s: nothing reports %s beside it", f.text, a.metric)
			}
		}
		if f.goal <= 0 || f.bench.full == "" || f.bench.short == "" || f.unit == "" || texts[f.text] {
			t.Errorf("%+v", f)
		}
		texts[f.text] = true
	}
}

const printed = `goos: linux
goarch: amd64
pkg: brabo.dev/runner/runner/policy
BenchmarkDecide/simple-2         	  139490	      8527 ns/op	    3368 B/op	      53 allocs/op
BenchmarkDecide/segments20-2     	   25862	     46399 ns/op
BenchmarkDecide/1MB/slashes-2    	      10	 105000000 ns/op
BenchmarkDecide/1MB/quotes-2     	      10	 305000000 ns/op
BenchmarkDecideMore-2            	      10	 905000000 ns/op
BenchmarkProposals-2             	    2000	    769712 ns/op	      1299 proposals/s
--- SKIP: BenchmarkOther
    other_test.go:1: not here
PASS
ok  	brabo.dev/runner/runner/policy	12.3s
`

func TestRowsAreReadFromWhatBenchmarksPrint(t *testing.T) {
	samples, err := parse([]byte(printed))
	if err != nil {
		t.Fatal(err)
	}
	decide := bench{name: "BenchmarkDecide"}
	for _, c := range []struct {
		f       figure
		value   float64
		reached bool
	}{
		{figure{bench: decide, sub: "simple", metric: "ns/op", scale: 0.001, goal: 10}, 8.527, true},
		{figure{bench: decide, sub: "simple", metric: "allocs/op", goal: 10}, 53, false},
		{figure{bench: decide, sub: "1MB", metric: "ns/op", scale: 1e-9, goal: 0.3}, 0.305, false},
		{figure{bench: decide, sub: "segments2", metric: "ns/op", goal: 1}, 0, false},
		{figure{bench: bench{name: "BenchmarkProposals"}, metric: "proposals/s", goal: 500, atLeast: true}, 1299, true},
		{figure{bench: bench{name: "BenchmarkOther"}, metric: "ns/op", goal: 1}, 0, false},
	} {
		r := pick(c.f, samples, nil)
		if r.value-c.value > 1e-9 || c.value-r.value > 1e-9 || r.reached() != c.reached || r.found == (r.why != "") {
			t.Errorf("%+v gave %+v", c.f, r)
		}
	}
}

func TestEachRowEndsWithItsVerdict(t *testing.T) {
	var out strings.Builder
	rows := []row{
		{figure: figure{text: "one", unit: "ms", goal: 10}, value: 8.5, found: true},
		{figure: figure{text: "two", unit: "/s", goal: 500, atLeast: true}, value: 400, found: true},
		{figure: figure{text: "three", unit: "MB", goal: 1}, why: "no engine"},
	}
	if err := printTable(&out, rows); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, end := range []string{"", "8.5 ms   at most 10 ms met", "400 /s at least 500 /s not met", "nothing (no engine) at most 1 MB not met"} {
		got := strings.Join(strings.Fields(lines[i]), " ")
		if !strings.HasSuffix(got, strings.Join(strings.Fields(end), " ")) || strings.Count(out.String(), " met") != 3 {
			t.Errorf("%q does not end with %q", lines[i], end)
		}
	}
}

func TestARowTellsWhatWasMeasuredBesideIt(t *testing.T) {
	samples := []sample{
		{"BenchmarkQueue/10-2", "x-of-ten", 1}, {"BenchmarkQueue/10-2", "KiB/action", 50},
		{"BenchmarkQueue/100-2", "x-of-ten", 1.25}, {"BenchmarkQueue/100-2", "KiB/action", 10},
	}
	f := figure{text: "an action", bench: bench{name: "BenchmarkQueue"}, sub: "100", metric: "x-of-ten", unit: "×", goal: 1.5}
	f.beside = []aside{{"KiB/action", 1.024, "KB each"}, {"descriptors", 0, "descriptors"}}
	var out strings.Builder
	if err := printTable(&out, []row{pick(f, samples, nil)}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "1.25 × (10.2 KB each)") {
		t.Errorf("%s", &out)
	}
}

func TestBadArgumentsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"--fast"}, {"more"}} {
		var out, progress strings.Builder
		if err := run(t.Context(), args, &out, &progress); err == nil || out.Len() > 0 {
			t.Errorf("%v: %v, %q", args, err, out.String())
		}
	}
}
