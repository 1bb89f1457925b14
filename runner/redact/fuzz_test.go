package redact

import (
	"bytes"
	"strings"
	"testing"
)

// expected is the slow way: each byte that belongs to an occurrence of a form is covered, and each run of those is a
// mark.
func expected(forms map[string]bool, text string) string {
	covered := make([]bool, len(text)+1)
	for form := range forms {
		for from := 0; ; from++ {
			i := strings.Index(text[from:], form)
			if i < 0 {
				break
			}
			from += i
			for j := range len(form) {
				covered[from+j] = true
			}
		}
	}
	var b strings.Builder
	for i := range len(text) {
		switch {
		case !covered[i]:
			b.WriteByte(text[i])
		case !covered[i+1]:
			b.WriteString(Mark)
		}
	}
	return b.String()
}

func FuzzStreamIsWhatTheSlowWayGives(f *testing.F) {
	f.Add("abcdefgh", "bcdefghij", "xxabcdefghijxx", []byte{3, 1, 200})
	f.Add("aaaaaaaa", "aaaaaaaab", "aaaaaaaaaaaaaaaaaaabaaaaaaa", []byte{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
	f.Add("s3cr/et+\"tok&en~ç", "\n  line one of it\n", "x czNjci9ldCsidG9rJmVufsOn s3cr%2Fet%2B%22tok", []byte{9, 0, 4})
	f.Add("(redacted)", "cted)(reda", "a(redacted)(redacted)", []byte{2})
	f.Fuzz(func(t *testing.T, one, two, text string, cuts []byte) {
		if len(one)+len(two) > 200 || len(text) > 4000 {
			return
		}
		forms := map[string]bool{}
		addForms(forms, one)
		addForms(forms, two)
		for form := range forms {
			if len(form) < MinLength {
				t.Fatalf("%q is too short a form", form)
			}
			if len(forms) < 40 && len(cuts) > 2 { // so that forms do occur
				text += form + text[:min(len(text), int(cuts[0])%8)]
			}
		}
		s, want := New(one, two), expected(forms, text)
		if got := s.Text(text); got != want {
			t.Fatalf("Text: %q became %q, not %q", text, got, want)
		}
		if got := string(s.Bytes([]byte(text))); got != want {
			t.Fatalf("Bytes: %q", got)
		}
		var b bytes.Buffer
		w := s.Writer(&b)
		rest := []byte(text)
		for _, cut := range cuts {
			n := min(int(cut), len(rest))
			piece := append([]byte(nil), rest[:n]...)
			if _, err := w.Write(piece); err != nil {
				t.Fatal(err)
			}
			clear(piece) // it was only lent
			if real, ok := w.(*Writer); ok && len(real.held) != int(real.a.nodes[real.state].depth) {
				t.Fatalf("%d bytes are held", len(real.held))
			}
			rest = rest[n:]
		}
		if _, err := w.Write(rest); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Fatalf("Writer: %q became %q, not %q", text, b.String(), want)
		}
	})
}
