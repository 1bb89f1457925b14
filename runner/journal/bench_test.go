package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// BenchmarkAction takes actions all their way and tells the median beside that of a bare 6-byte write with fsync.
func BenchmarkAction(b *testing.B) {
	o := ordinary(b)
	j := open(b, o)
	f, err := os.Create(filepath.Join(o.Folder, "floor"))
	must(b, err)
	defer f.Close()
	var cost, floor []time.Duration
	r := result("hello")
	for i := 0; b.Loop(); i++ {
		ref := strconv.Itoa(i)
		a := command(ref, "go test ./...")
		started := time.Now()
		receive(b, j, a)
		must(b, j.Begin(a.Key))
		must(b, j.Started(a.Key, Process{PID: 4711, Group: 4711, Identity: "8b0c1c2e-5a3e-4a0c-9d61-000000000000 123456"}))
		must(b, j.Finish(a.Key, r))
		must(b, j.Delivered(Due{Key: a.Key, Serial: uint64(i + 1)}))
		cost = append(cost, time.Since(started))
		started = time.Now()
		_, err := f.WriteAt([]byte("floor\n"), int64(i)*6)
		must(b, err)
		must(b, f.Sync())
		floor = append(floor, time.Since(started))
	}
	if due := outbox(b, j); len(due) > 0 {
		b.Fatalf("%d results were not delivered", len(due))
	}
	journal, fsync := median(cost), median(floor)
	b.ReportMetric(float64(journal.Microseconds()), "journal-µs")
	b.ReportMetric(float64(fsync.Microseconds()), "fsync-µs")
	b.ReportMetric(float64(journal)/float64(fsync), "ratio")
}

// BenchmarkRecovery opens a journal of 100,000 actions, of which 1,000 are due and 100 unfinished, as after a crash.
func BenchmarkRecovery(b *testing.B) {
	o := ordinary(b)
	fill(b, o, 100_000, 1_000, 100)
	for b.Loop() {
		j, err := Open(o)
		must(b, err)
		left, err := j.Unfinished()
		must(b, err)
		if due := outbox(b, j); len(left) != 100 || len(due) != 1_000 {
			b.Fatalf("%d unfinished, %d due", len(left), len(due))
		}
		must(b, j.Close())
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/recovery")
}

// fill journals n actions, the last of them due, and the very last unfinished.
func fill(b *testing.B, o Options, n, due, unfinished int) {
	j, err := Open(o)
	must(b, err)
	must(b, j.exec("PRAGMA synchronous = OFF"))
	must(b, j.transaction(func() error {
		for i := range n {
			a := command(fmt.Sprint(i), "go test ./...")
			request, text, secret := without(a.Payload)
			if _, err := j.receiveLocked(a, request, text, secret); err != nil {
				return err
			}
			if i >= n-unfinished {
				continue
			}
			if err := j.finishLocked(a.Key, result("hello"), nil, nil); err != nil {
				return err
			}
			if i < n-unfinished-due {
				if _, err := j.stmts.delivered.Exec(1, server, project, "exec", a.Key.Ref, int64(j.serial)); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	must(b, j.Close())
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
