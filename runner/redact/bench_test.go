package redact

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sink copies what it is given, as whatever keeps an output does.
type sink struct{ to []byte }

func (s *sink) Write(p []byte) (int, error) { return copy(s.to, p), nil }

// BenchmarkStream passes 1 MiB in pieces of 64 KiB, by turns through a Writer and straight into the same sink: times_copy
// is what redaction costs over one copy. "hostile" is text that the automaton can't pass over.
func BenchmarkStream(b *testing.B) {
	secrets := make([]string, 8)
	for i := range secrets {
		sum := sha256.Sum256([]byte(strconv.Itoa(i)))
		secrets[i] = hex.EncodeToString(sum[:20])
	}
	line := "a line as programs print them, with an accent: ação, and the number 0123456789abcdef\n"
	for name, c := range map[string]struct {
		secrets []string
		text    string
	}{
		"lines": {secrets, line}, "hostile": {[]string{strings.Repeat("a", 100) + "b"}, strings.Repeat("a", 99)},
		"nothing": {nil, line},
	} {
		b.Run(name, func(b *testing.B) {
			text := bytes.Repeat([]byte(c.text), 1<<20/len(c.text))
			set := New(c.secrets...)
			to := &sink{make([]byte, 64<<10)}
			var ours, bare time.Duration
			for b.Loop() {
				begun := time.Now()
				w := set.Writer(to)
				for at := 0; at < len(text); at += 64 << 10 {
					if _, err := w.Write(text[at:min(at+64<<10, len(text))]); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
				between := time.Now()
				for at := 0; at < len(text); at += 64 << 10 {
					_, _ = to.Write(text[at:min(at+64<<10, len(text))])
				}
				ours += between.Sub(begun)
				bare += time.Since(between)
			}
			b.SetBytes(int64(len(text)))
			b.ReportMetric(float64(ours)/float64(bare), "times_copy")
			b.ReportMetric(float64(len(text))*float64(b.N)/1e6/ours.Seconds(), "redacted_MB/s")
		})
	}
}

// BenchmarkNew makes the set of a daemon: five secrets and 32 tickets.
func BenchmarkNew(b *testing.B) {
	var k Known
	for i := range 5 {
		k.Keep(strings.Repeat("secret", 7) + strconv.Itoa(i))
	}
	for i := range recent {
		sum := sha256.Sum256([]byte(strconv.Itoa(i)))
		k.Pass(hex.EncodeToString(sum[:22]))
	}
	for b.Loop() {
		k.With("a-git-token-of-an-action")
	}
}
