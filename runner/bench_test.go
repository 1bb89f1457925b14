package runner

import (
	"encoding/json"
	"fmt"
	"log/slog"
	osexec "os/exec"
	"slices"
	"testing"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/journal"
	"brabo.dev/runner/runner/redact"
)

// BenchmarkExec is the time from the frame that carries a command to the frame that carries its result, what the server
// does before the one and after the other not counted, beside a bare os/exec of the same shell command in the same run.
// The daemon has secrets to look for, as each has. Goal: ratio at most 1.25.
func BenchmarkExec(b *testing.B) {
	e := newEngine(b, action.Known()...)
	results := make(chan time.Time, 1)
	e.arrived = func(msg channel.Message) {
		if msg.Event == action.EventExecResult {
			results <- time.Now()
		}
	}
	d := startDaemon(b, e, func(o *Options) {
		o.Log, o.Secrets = slog.New(slog.DiscardHandler), &redact.Known{}
		o.Secrets.Keep("brb_a-token-as-long-as-a-real-one-is-0123456789", "the-private-half-of-a-device-key-in-base64u")
	})
	e.joined(b)
	shell := d.shell
	var through, bare []time.Duration
	for i := 0; b.Loop(); i++ {
		payload := fmt.Sprintf(`{"ref":"%d","command":"true"}`, i)
		began := time.Now()
		e.send(b, action.EventExec, payload)
		if r := e.result(b); r.ExitCode != 0 {
			b.Fatalf("%+v", r)
		}
		through = append(through, (<-results).Sub(began))

		began = time.Now()
		cmd := osexec.Command(shell.Path, append(slices.Clone(shell.Args), "true")...)
		cmd.Dir = d.root
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatal(err, out)
		}
		bare = append(bare, time.Since(began))
	}
	b.ReportMetric(float64(median(through))/float64(median(bare)), "ratio")
	b.ReportMetric(float64(median(through).Microseconds()), "µs/exec")
	b.ReportMetric(float64(median(bare).Microseconds()), "µs/bare")
}

// BenchmarkDeliver is the delivery of one result to a server that acknowledges, over loopback.
func BenchmarkDeliver(b *testing.B) {
	l := &MemoryLedger{}
	for i := range b.N {
		key := journal.Key{Server: "s", Project: "p", Event: "exec", Ref: fmt.Sprint(i)}
		if _, err := l.Receive(journal.Action{Key: key}); err != nil {
			b.Fatal(err)
		}
		if err := l.Finish(key, journal.Result{Event: action.EventExecResult, Payload: json.RawMessage(`{"ref":"x","exitCode":0}`)}); err != nil {
			b.Fatal(err)
		}
	}
	e := newEngine(b, action.Known()...)
	b.ResetTimer()
	startDaemon(b, e, func(o *Options) { o.Server, o.Ledger, o.Log = "s", l, slog.New(slog.DiscardHandler) })
	for range min(b.N, memoryKeys) {
		e.result(b)
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
