package main

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/hub/client"
)

// echoes notes what comes out of a terminal.
type echoes struct {
	mu   sync.Mutex
	out  []byte
	more chan struct{}
}

func (e *echoes) Write(p []byte) (int, error) {
	e.mu.Lock()
	e.out = append(e.out, p...)
	e.mu.Unlock()
	select {
	case e.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

// until waits for text and forgets what came.
func (e *echoes) until(b *testing.B, text string) {
	b.Helper()
	timeout := time.After(60 * time.Second)
	for {
		e.mu.Lock()
		found := bytes.Contains(e.out, []byte(text))
		if found {
			e.out = e.out[:0]
		}
		e.mu.Unlock()
		if found {
			return
		}
		select {
		case <-e.more:
		case <-timeout:
			b.Fatalf("%q did not come", text)
		}
	}
}

// BenchmarkTerminalThroughHub is the time from a key at a person's side to its echo there, through hub and daemon, beside
// a bare pseudo terminal in the same run. Goal: a median of less than 2 ms more.
func BenchmarkTerminalThroughHub(b *testing.B) {
	_, url, _, _ := terminalBed(b, inHome(b))
	t, err := client.New(url, terminalPerson).Terminal(b.Context(), "p", hub.TerminalSize{Cols: 80, Rows: 24})
	if err != nil {
		b.Fatal(err)
	}
	shown := &echoes{more: make(chan struct{}, 1)}
	var showing sync.WaitGroup
	showing.Go(func() { _, _ = t.Show(shown) })
	defer showing.Wait()
	defer t.Close()
	types := func(to io.Writer, text string) {
		if _, err := io.WriteString(to, text); err != nil {
			b.Fatal(err)
		}
	}
	types(t, "PS1=; stty echo icanon; echo qui''et; exec sleep 1000\n")
	shown.until(b, "quiet\r\n")
	master, slave, err := pty.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	var through, bare []time.Duration
	for b.Loop() {
		began := time.Now()
		types(t, "x")
		shown.until(b, "x")
		through = append(through, time.Since(began))
		types(t, "\x15") // the line is taken back, so that it never gets too long
		shown.until(b, "\b \b")
		began = time.Now()
		types(master, "x")
		if _, err := io.ReadFull(master, make([]byte, 1)); err != nil {
			b.Fatal(err)
		}
		bare = append(bare, time.Since(began))
		types(master, "\x15")
		if _, err := io.ReadFull(master, make([]byte, 3)); err != nil {
			b.Fatal(err)
		}
	}
	middle := func(all []time.Duration) time.Duration {
		slices.Sort(all)
		return all[len(all)/2]
	}
	b.ReportMetric(float64((middle(through) - middle(bare)).Microseconds()), "µs-added/key")
	b.ReportMetric(float64(middle(bare).Microseconds()), "µs-bare/key")
}
