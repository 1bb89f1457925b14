package runner

import (
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"brabo.dev/runner/runner/action"
)

// BenchmarkProjects is what an action costs, from its frame to its result's, while so many projects are served, and what
// each project costs with the server's half of it, which lives in the same process. The floor is the same with one
// project, in the same run: the cost of an action must not grow with the number of projects.
func BenchmarkProjects(b *testing.B) {
	const actions = 300
	var one time.Duration
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				memory, files := inUse(), descriptors()
				e := newEngineFor(b, n, action.Known()...)
				began := time.Now()
				stop := serveMany(b, e, n, func(o *Options) { o.Log = slog.New(slog.DiscardHandler) })
				b.ReportMetric(time.Since(began).Seconds(), "s-to-joined")
				b.ReportMetric(float64(inUse()-memory)/1024/float64(n), "KiB/project")
				if files >= 0 {
					b.ReportMetric(float64(descriptors()-files)/float64(n), "descriptors/project")
				}
				took := make([]time.Duration, 0, actions)
				for i := range actions {
					began := time.Now()
					e.exec(b, fmt.Sprint(i), "true", "")
					if r := e.result(b); r.ExitCode != 0 {
						b.Fatalf("%+v", r)
					}
					took = append(took, time.Since(began))
				}
				cost := median(took)
				if n == 1 {
					one = cost
				}
				b.ReportMetric(float64(cost.Microseconds()), "µs/action")
				b.ReportMetric(float64(cost)/float64(one), "x-of-one")
				stop()
			}
		})
	}
}

// BenchmarkQueue is what each of so many actions costs that arrive at once, with its memory and descriptors while they
// wait: few descriptors are those of what runs already. The floor is ten, in the same run.
func BenchmarkQueue(b *testing.B) {
	var ten time.Duration
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			e := newEngine(b, action.Known()...)
			startDaemon(b, e, func(o *Options) { o.Log, o.Commands.Queue = slog.New(slog.DiscardHandler), n })
			e.joined(b)
			var rounds []time.Duration
			for round := 0; b.Loop(); {
				round++
				memory, files, began := inUse(), descriptors(), time.Now()
				for i := range n {
					e.exec(b, fmt.Sprint(round, "-", i), "true", "")
				}
				waiting, open := inUse(), descriptors()
				for range n {
					if r := e.result(b); r.ExitCode != 0 {
						b.Fatalf("%+v", r)
					}
				}
				rounds = append(rounds, time.Since(began)/time.Duration(n))
				b.ReportMetric(float64(waiting-memory)/1024/float64(n), "KiB/action")
				if files >= 0 {
					b.ReportMetric(float64(open-files)/float64(n), "descriptors/action")
				}
			}
			each := median(rounds)
			if n == 10 {
				ten = each
			}
			b.ReportMetric(float64(each.Microseconds()), "µs/action")
			b.ReportMetric(float64(each)/float64(ten), "x-of-ten")
		})
	}
}

// descriptors is how many files this process has open; -1 where the system doesn't tell.
func descriptors() int {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(files)
}
