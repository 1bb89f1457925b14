//go:build unix

package exec

import (
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/creack/pty"
)

// BenchmarkKeystroke is the time from a byte that is typed to its echo by the terminal itself, beside a bare pseudo
// terminal in the same run.
func BenchmarkKeystroke(b *testing.B) {
	s := sitQuiet(b)
	master, slave, err := pty.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	var ours, bare time.Duration
	for b.Loop() {
		ours += echo(b, s)
		bare += echo(b, master)
	}
	b.ReportMetric(float64((ours-bare).Microseconds())/float64(b.N), "µs-added/key")
	b.ReportMetric(float64(bare.Microseconds())/float64(b.N), "µs-bare/key")
}

// sitQuiet opens a terminal in which nothing reads or writes.
func sitQuiet(b *testing.B) *Terminal {
	b.Helper()
	o := terminalOptions(b)
	terminal, err := OpenTerminal(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { terminal.Close() })
	if _, err := io.WriteString(terminal, "PS1=; stty echo icanon; printf '%s\\n' qui''et; exec sleep 1000\n"); err != nil {
		b.Fatal(err)
	}
	readUntil(b, terminal, "\nquiet\r\n")
	return terminal
}

func readUntil(t testing.TB, from io.Reader, text string) {
	t.Helper()
	var seen string
	piece := make([]byte, 4096)
	for len(seen) < len(text) || seen[len(seen)-len(text):] != text {
		n, err := from.Read(piece)
		if err != nil {
			t.Fatal(err)
		}
		seen += string(piece[:n])
	}
}

func echo(b *testing.B, line io.ReadWriter) time.Duration {
	began := time.Now()
	if _, err := line.Write([]byte("x")); err != nil {
		b.Fatal(err)
	}
	if _, err := io.ReadFull(line, make([]byte, 1)); err != nil {
		b.Fatal(err)
	}
	took := time.Since(began)
	if _, err := line.Write([]byte{0x15}); err != nil { // the line is taken back, so that it never gets too long
		b.Fatal(err)
	}
	if _, err := io.ReadFull(line, make([]byte, 3)); err != nil {
		b.Fatal(err)
	}
	return took
}

// TestMuchOutputTakesNoMemory runs real bash and head: 200 MB go through a terminal.
func TestMuchOutputTakesNoMemory(t *testing.T) {
	const amount = 200 << 20
	terminal, err := OpenTerminal(t.Context(), terminalOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	if _, err := fmt.Fprintf(terminal, "stty raw -echo; printf '%%s\\n' be''gin; head -c %d /dev/zero; exit\n", amount); err != nil {
		t.Fatal(err)
	}
	readUntil(t, terminal, "\nbegin\n")
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	piece := make([]byte, 32<<10)
	for total, next := 0, 16<<20; total < amount; {
		n, err := terminal.Read(piece)
		if err != nil {
			t.Fatalf("after %d bytes: %v", total, err)
		}
		if total += n; total < next {
			continue
		}
		next += 16 << 20
		runtime.GC()
		runtime.ReadMemStats(&now)
		if grown := int64(now.HeapAlloc) - int64(before.HeapAlloc); grown > 2<<20 {
			t.Fatalf("after %d bytes the heap has grown by %d", total, grown)
		}
	}
	_, _ = io.Copy(io.Discard, terminal) // what is left is the shell's
}
