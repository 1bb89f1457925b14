package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
)

// row is a figure and what was measured.
type row struct {
	figure
	value float64 // in the figure's unit
	found bool
	aside string // what was measured beside it
	why   string // where nothing was found
}

// reached says whether the goal is.
func (r row) reached() bool {
	if r.atLeast {
		return r.found && r.value >= r.goal
	}
	return r.found && r.value <= r.goal
}

// sample is one value that a benchmark reported.
type sample struct {
	name, metric string // the name as in BenchmarkDecide/simple
	value        float64
}

// measurer runs benchmarks of the tree at root, one after the other: two at once would measure each other.
type measurer struct {
	root     string
	short    bool
	progress io.Writer
}

// measure runs each benchmark that the figures need once, and gives a row for each figure.
func (m measurer) measure(ctx context.Context, figures []figure) []row {
	type result struct {
		samples []sample
		err     error
	}
	results := map[bench]result{}
	var rows []row
	for _, f := range figures {
		r, done := results[f.bench]
		if !done {
			began := time.Now()
			r.samples, r.err = m.run(ctx, f.bench)
			results[f.bench] = r
			fmt.Fprintf(m.progress, "%s %s: %.0f s\n", f.bench.pkg, f.bench.name, time.Since(began).Seconds())
		}
		rows = append(rows, pick(f, r.samples, r.err))
	}
	return rows
}

// run runs one benchmark and gives what it reported.
func (m measurer) run(ctx context.Context, b bench) ([]sample, error) {
	times := b.full
	if m.short {
		times = b.short
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^"+b.name+"$", "-benchtime", times, "-timeout", "30m", b.pkg)
	cmd.Dir = m.root
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, lastLine(out))
	}
	return parse(out)
}

// parse reads what `go test -bench` prints.
func parse(out []byte) ([]sample, error) {
	var samples []sample
	r := benchfmt.NewReader(bytes.NewReader(out), "go test")
	for r.Scan() {
		result, ok := r.Result().(*benchfmt.Result)
		if !ok {
			continue // a line that is not a result: logs, skips
		}
		for _, v := range result.Values {
			s := sample{"Benchmark" + string(result.Name.Full()), v.Unit, v.Value}
			if v.OrigUnit != "" {
				s.metric, s.value = v.OrigUnit, v.OrigValue
			}
			samples = append(samples, s)
		}
	}
	return samples, r.Err()
}

// pick takes a figure's value from what its benchmark reported: the worst, where there are several.
func pick(f figure, samples []sample, err error) row {
	r := row{figure: f}
	if err != nil {
		r.why = err.Error()
		return r
	}
	for _, s := range samples {
		if s.metric != f.metric || !below(s.name, f.bench.name, f.sub) {
			continue
		}
		value := s.value
		if f.scale != 0 {
			value *= f.scale
		}
		if !r.found || (f.atLeast && value < r.value) || (!f.atLeast && value > r.value) {
			r.value, r.found, r.aside = value, true, asides(f, samples, s.name)
		}
	}
	if !r.found {
		r.why = "the benchmark reported nothing: a component that it needs is missing here"
	}
	return r
}

// asides tells what the benchmark of this full name reported beside the figure.
func asides(f figure, samples []sample, name string) string {
	var told []string
	for _, a := range f.beside {
		for _, s := range samples {
			if s.name != name || s.metric != a.metric {
				continue
			}
			value := s.value
			if a.scale != 0 {
				value *= a.scale
			}
			told = append(told, number(value)+" "+a.words)
		}
	}
	return strings.Join(told, ", ")
}

// below reports whether a benchmark's name, which ends with -GOMAXPROCS, is the sub-benchmark or one of its own.
func below(name, bench, sub string) bool {
	rest, ok := strings.CutPrefix(name, bench)
	if !ok {
		return false
	}
	if sub == "" {
		return rest == "" || rest[0] == '/' || rest[0] == '-'
	}
	rest, ok = strings.CutPrefix(rest, "/"+sub)
	return ok && (rest == "" || rest[0] == '/' || rest[0] == '-')
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, line := range lines {
		if strings.Contains(line, "_test.go:") {
			return strings.TrimSpace(line)
		}
	}
	return lines[len(lines)-1]
}
