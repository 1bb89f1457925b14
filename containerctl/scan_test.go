package containerctl

import (
	"bytes"
	"testing"
)

func TestReportsAndOutputAreToldApart(t *testing.T) {
	for name, tc := range map[string]struct {
		in, out, words string
		ended          bool
		code           int
	}{
		"plain":                        {"W begin\nhello\nW end 3 0 0\n", "hello\n", "", true, 3},
		"no line end":                  {"W begin\nhelloW end 3 0 0\n", "hello", "", true, 3},
		"no output":                    {"W begin\nW end 0 0 0\n", "", "", true, 0},
		"flags":                        {"W nobash\nW unmarked\nW begin\nxW end 0 2 0\n", "x", "", true, 0},
		"nothing ran":                  {"W nocwd\nW end 126 0 0\n", "", "", true, 126},
		"the engine's words":           {"OCI runtime exec failed\r\nno such file", "", "OCI runtime exec failed\r\nno such file", false, -1},
		"broken off":                   {"W begin\nhello W", "hello W", "", false, -1},
		"what looks like its word":     {"V begin\nW begin\nV end 1 0 0\nW end 0 0 0\n", "V end 1 0 0\n", "V begin", true, 0},
		"what comes afterwards":        {"W begin\naW end 0 0 0\nlate\n", "a", "", true, 0},
		"a report that can't be read":  {"W begin\naW end x\n", "a", "", true, -1},
		"an end where a begin is due":  {"W end 2 0 0\nmore", "", "", true, 2},
		"engine's words without a end": {"sh: x", "", "sh: x", false, -1},
	} {
		t.Run(name, func(t *testing.T) {
			word := "UNGUESSABLE"
			in := bytes.ReplaceAll([]byte(tc.in), []byte("W "), []byte(word+" "))
			want := bytes.ReplaceAll([]byte(tc.out), []byte("W "), []byte(word+" "))
			for step := 1; step <= len(in); step++ {
				var out bytes.Buffer
				s := newScanner(word, &out)
				for rest := in; len(rest) > 0; rest = rest[min(step, len(rest)):] {
					_, _ = s.Write(rest[:min(step, len(rest))])
				}
				s.flush()
				ended := false
				select {
				case <-s.ended:
					ended = true
				default:
				}
				if !bytes.Equal(out.Bytes(), want) || s.said() != tc.words || ended != tc.ended || s.number("end", 0, -1) != tc.code {
					t.Fatalf("in pieces of %d: output %q, words %q, ended %v, code %d", step, out.String(), s.said(), ended, s.number("end", 0, -1))
				}
			}
		})
	}
}

// FuzzScanner holds the reader of reports to one thing: whatever a command writes comes through whole.
func FuzzScanner(f *testing.F) {
	f.Add([]byte("hello\n"), 3)
	f.Add([]byte("UNGUESS UNGUESSABL\x00\nUNGUESSABL"), 1)
	f.Fuzz(func(t *testing.T, output []byte, step int) {
		const word = "UNGUESSABLE"
		if bytes.Contains(append(output, word...)[:len(output)+len(word)-1], []byte(word)) || step < 1 {
			t.Skip()
		}
		var got bytes.Buffer
		s := newScanner(word, &got)
		in := []byte(word + " begin\n" + string(output) + word + " end 7 0 0\n")
		for len(in) > 0 {
			n := min(step, len(in))
			_, _ = s.Write(in[:n])
			in = in[n:]
		}
		if !bytes.Equal(got.Bytes(), output) || s.number("end", 0, -1) != 7 {
			t.Errorf("%q became %q", output, got.Bytes())
		}
	})
}
