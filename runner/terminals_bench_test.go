//go:build unix

package runner

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/creack/pty"

	"brabo.dev/runner/runner/action"
)

// BenchmarkKeystroke is the time from the frame that carries a typed byte to the frame that carries its echo, beside a
// bare pseudo terminal in the same run. Goal: a median of less than 2 ms more.
func BenchmarkKeystroke(b *testing.B) {
	e := newEngine(b, action.Known()...)
	startDaemon(b, e, withTerminals(b, 1), func(o *Options) { o.Log = slog.New(slog.DiscardHandler) })
	e.joined(b)
	w := e.open(b, "one").opened(b)
	w.types(b, "PS1=; stty echo icanon; echo qui''et; exec sleep 1000\n")
	w.sees(b, "\r\nquiet\r\n")
	master, slave, err := pty.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	var through, bare []time.Duration
	for b.Loop() {
		w.out.Reset()
		began := time.Now()
		w.types(b, "x")
		w.sees(b, "x")
		through = append(through, time.Since(began))
		w.types(b, "\x15") // the line is taken back, so that it never gets too long
		w.sees(b, "x\b \b")

		began = time.Now()
		if _, err := io.WriteString(master, "x"); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(master, make([]byte, 1)); err != nil {
			b.Fatal(err)
		}
		bare = append(bare, time.Since(began))
		if _, err := io.WriteString(master, "\x15"); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(master, make([]byte, 3)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((median(through) - median(bare)).Microseconds()), "µs-added/key")
	b.ReportMetric(float64(median(bare).Microseconds()), "µs-bare/key")
}

// BenchmarkTerminalFlood is 200 MB of a terminal's output on their way to the server, and by how much the memory of both
// grows on the way. Goal: flat, which is less than 8 MiB.
func BenchmarkTerminalFlood(b *testing.B) {
	const amount, step = 200 << 20, 16 << 20
	e := newEngine(b, action.Known()...)
	startDaemon(b, e, withTerminals(b, 1), func(o *Options) { o.Log = slog.New(slog.DiscardHandler) })
	e.joined(b)
	w := e.open(b, "one").opened(b)
	b.SetBytes(amount)
	var grown int64
	for b.Loop() {
		before, next := inUse(), step
		w.types(b, fmt.Sprintf("stty raw -echo; head -c %d /dev/zero; stty sane\n", amount))
		for total := 0; total < amount; {
			var data action.PtyData
			if err := json.Unmarshal(e.hear(b, action.EventPtyData).Payload, &data); err != nil {
				b.Fatal(err)
			}
			if total += len(data.Data); total >= next {
				grown, next = max(grown, inUse()-before), next+step
			}
		}
	}
	b.ReportMetric(float64(grown)/(1<<20), "growth_MiB")
}
