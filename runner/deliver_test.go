package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/journal"
)

// queue puts n results into a ledger, as of a daemon that could not deliver them.
func queue(t testing.TB, l Ledger, server string, n int) {
	t.Helper()
	for i := range n {
		key := journal.Key{Server: server, Project: "p", Event: "exec", Ref: fmt.Sprint(i)}
		if _, err := l.Receive(journal.Action{Key: key, Payload: json.RawMessage(`{"command":"true"}`)}); err != nil {
			t.Fatal(err)
		}
		payload := fmt.Sprintf(`{"ref":"%d","exitCode":0,"output":"the result of an ordinary command"}`, i)
		if err := l.Finish(key, journal.Result{Event: action.EventExecResult, Payload: json.RawMessage(payload)}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestResultsAreOnTheirWayTogetherAndAgainAfterTheNextJoin(t *testing.T) {
	const n = 3 * flightResults
	e, l := newEngine(t, action.Known()...), &MemoryLedger{}
	e.mute = true
	queue(t, l, "s", n)
	d := startDaemon(t, e, func(o *Options) { o.Server, o.Ledger = "s", l })
	for i := range flightResults {
		if r := e.result(t); r.Ref != fmt.Sprint(i) {
			t.Fatalf("result %s in place of %d", r.Ref, i)
		}
	}
	if got := d.m.Status().Counters; got.Delivered != 0 || got.Waiting != n {
		t.Errorf("nothing was acknowledged, and the counters are %+v", got)
	}
	e.drop()
	for i := range n {
		if r := e.result(t); r.Ref != fmt.Sprint(i) {
			t.Fatalf("result %s in place of %d, after the second join", r.Ref, i)
		}
	}
	await(t, d.m, "that all were delivered", func(s control.Status) bool {
		return s.Counters.Delivered == n && s.Counters.Waiting == 0
	})
}

func TestLargeResultsAreNotAllOnTheirWayAtOnce(t *testing.T) {
	e, l := newEngine(t, action.Known()...), &MemoryLedger{}
	large := make([]byte, flightBytes*2/3)
	for i := range large {
		large[i] = 'x'
	}
	for i := range 4 {
		key := journal.Key{Server: "s", Project: "p", Event: "exec", Ref: fmt.Sprint(i)}
		_, _ = l.Receive(journal.Action{Key: key})
		if err := l.Finish(key, journal.Result{Event: action.EventExecResult, Payload: json.RawMessage(fmt.Sprintf(`{"ref":"%d","output":"%s"}`, i, large))}); err != nil {
			t.Fatal(err)
		}
	}
	startDaemon(t, e, func(o *Options) { o.Server, o.Ledger = "s", l })
	for i := range 4 {
		if r := e.result(t); r.Ref != fmt.Sprint(i) {
			t.Fatalf("result %s in place of %d", r.Ref, i)
		}
	}
}

// BenchmarkRedeliver is the delivery of 1,000 results that waited in the journal, from the start of the daemon until
// the last is noted as delivered. Goal: under 2 s. The floor are the same messages pushed over a bare channel, with one
// proof in the end that they were read.
func BenchmarkRedeliver(b *testing.B) {
	const n = 1000
	var took, floor []time.Duration
	for b.Loop() {
		e, j := newEngine(b, action.Known()...), openJournal(b, b.TempDir())
		queue(b, j, e.URL, n)
		began := time.Now()
		d := startDaemon(b, e, func(o *Options) { o.Ledger, o.Log = j, slog.New(slog.DiscardHandler) })
		for range n {
			e.result(b)
		}
		for d.m.counts.delivered.Load() < n {
			time.Sleep(time.Millisecond / 4)
		}
		took = append(took, time.Since(began))
		d.stop()
		if err := d.wait(b); err != nil {
			b.Fatal(err)
		}
		due, err := j.Waiting(e.URL, "p")
		if err != nil || due != 0 {
			b.Fatal(due, err)
		}
		floor = append(floor, bareSend(b, n))
		if err := j.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(median(took).Seconds(), "s-to-delivered")
	b.ReportMetric(float64(median(took))/float64(median(floor)), "ratio")
}

// bareSend is how long n results take over a channel without a daemon behind it.
func bareSend(b *testing.B, n int) time.Duration {
	b.Helper()
	e := newEngine(b, action.Known()...)
	ctx := context.Background()
	began := time.Now()
	conn, err := (&channel.Dialer{}).Dial(ctx, e.URL+"/runner/websocket?vsn=2.0.0")
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	ch, _, err := conn.Join(ctx, "terminal:p", nil)
	if err != nil {
		b.Fatal(err)
	}
	payload := json.RawMessage(`{"ref":"1","exitCode":0,"output":"the result of an ordinary command"}`)
	for range n {
		if err := ch.Push(ctx, action.EventExecResult, payload); err != nil {
			b.Fatal(err)
		}
	}
	if err := conn.Sync(ctx); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}
