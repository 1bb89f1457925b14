package exec

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestOutputOfThatFits(t *testing.T) {
	for name, tc := range map[string]struct {
		chunks  []string
		limit   int
		text    string
		invalid int64
	}{
		"nothing":                              {nil, 10, "", 0},
		"text":                                 {[]string{"one ", "two"}, 10, "one two", 0},
		"exactly the limit":                    {[]string{"12345", "67890"}, 10, "1234567890", 0},
		"a character split between chunks":     {[]string{"\xe2\x82", "\xac"}, 10, "€", 0},
		"a character in four chunks":           {[]string{"\xf0", "\x9f", "\x98", "\x80"}, 4, "😀", 0},
		"every invalid byte for itself":        {[]string{"a\xff\xfeb"}, 10, "a\uFFFD\uFFFDb", 2},
		"a character that never ends":          {[]string{"a\xe2\x82"}, 10, "a\uFFFD\uFFFD", 2},
		"a replacement character that was one": {[]string{"\uFFFD"}, 10, "\uFFFD", 0},
		"carriage returns and NUL as they are": {[]string{"a\r\n\x00"}, 10, "a\r\n\x00", 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := NewOutput(tc.limit)
			var want int64
			for _, chunk := range tc.chunks {
				o.Write([]byte(chunk))
				want += int64(len(chunk))
			}
			text, truncated, total, invalid := o.Result()
			if text != tc.text || truncated || total != want || invalid != tc.invalid {
				t.Errorf("got %q, %v, %d, %d; want %q, false, %d, %d", text, truncated, total, invalid, tc.text, want, tc.invalid)
			}
		})
	}
}

func TestOutputTooLongKeepsBothEndsAroundTheMark(t *testing.T) {
	o := NewOutput(200)
	o.Write([]byte("first" + strings.Repeat("é", 5000) + "last"))
	text, truncated, total, _ := o.Result()
	const mark = "\n\n[saída truncada: 200 de 10009 bytes. Refine o comando (head, grep, -maxdepth) para ver o que falta.]\n\n"
	head, tail, found := strings.Cut(text, mark)
	if !found || !truncated || total != 10009 {
		t.Fatalf("got %q, %v, %d", text, truncated, total)
	}
	if !strings.HasPrefix(head, "firsté") || !strings.HasSuffix(tail, "élast") {
		t.Errorf("head %q, tail %q", head, tail)
	}
	if len(text) > 200 || !utf8.ValidString(text) {
		t.Errorf("%d bytes, valid: %v", len(text), utf8.ValidString(text))
	}
}

func TestOutputThatOutgrowsTheLimitOnlyByReplacement(t *testing.T) {
	o := NewOutput(300)
	o.Write([]byte(strings.Repeat("\xff", 200)))
	text, truncated, total, invalid := o.Result()
	if len(text) > 300 || !truncated || total != 200 || invalid != int64(strings.Count(text, "\uFFFD")) {
		t.Errorf("got %d bytes, %v, %d, %d", len(text), truncated, total, invalid)
	}
}

func TestOutputWithALimitBelowTheMark(t *testing.T) {
	for _, limit := range []int{-1, 0, 1, 5, 100} {
		o := NewOutput(limit)
		o.Write([]byte(strings.Repeat("é", 300)))
		text, truncated, total, _ := o.Result()
		if len(text) > max(limit, 0) || !truncated || total != 600 || !utf8.ValidString(text) {
			t.Errorf("limit %d: got %q, %v, %d", limit, text, truncated, total)
		}
	}
}

// outputHolds states what holds of every Output, whatever comes in whatever chunks.
func outputHolds(t interface{ Fatalf(string, ...any) }, all []byte, o *Output, limit int) {
	var whole strings.Builder
	var bad int64
	for rest := all; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 {
			bad++
		}
		whole.WriteRune(r)
		rest = rest[n:]
	}
	text, truncated, total, invalid := o.Result()
	if total != int64(len(all)) {
		t.Fatalf("total %d, want %d", total, len(all))
	}
	if len(text) > limit || !utf8.ValidString(text) {
		t.Fatalf("%d bytes of %d, valid: %v", len(text), limit, utf8.ValidString(text))
	}
	if truncated != (whole.Len() > limit) {
		t.Fatalf("truncated: %v, but %d bytes of %d", truncated, whole.Len(), limit)
	}
	if !truncated {
		if text != whole.String() || invalid != bad {
			t.Fatalf("got %q and %d, want %q and %d", text, invalid, whole.String(), bad)
		}
		return
	}
	mark := marker(limit, total)
	if len(mark) > limit {
		if !strings.HasPrefix(whole.String(), text) {
			t.Fatalf("%q is no beginning", text)
		}
		return
	}
	// The mark may also stand in the output itself, so it is looked for where it can be.
	for at := 0; at+len(mark) <= len(text); at++ {
		if text[at:at+len(mark)] == mark && strings.HasPrefix(whole.String(), text[:at]) &&
			strings.HasSuffix(whole.String(), text[at+len(mark):]) {
			if unused := limit - len(text); unused >= 2*utf8.UTFMax {
				t.Fatalf("%d bytes of %d are not used", unused, limit)
			}
			return
		}
	}
	t.Fatalf("no beginning, mark and end in %q", text)
}

func TestOutputForAnyChunks(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"a", "é", "€", "😀", "\xff", "\xe2", "\x82", "\xf0\x9f", "\x80\x80", "\n", strings.Repeat("x", 90), "\uFFFD"})
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 400).Draw(t, "limit")
		all := []byte(strings.Join(rapid.SliceOfN(pieces, 0, 120).Draw(t, "pieces"), ""))
		o := NewOutput(limit)
		for rest := all; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "chunk")
			o.Write(rest[:n])
			rest = rest[n:]
		}
		outputHolds(t, all, o, limit)
	})
}

func FuzzOutput(f *testing.F) {
	f.Add([]byte("text"), uint16(2), uint8(1))
	f.Add([]byte(strings.Repeat("\xe2\x82\xac\xff", 100)), uint16(150), uint8(7))
	f.Fuzz(func(t *testing.T, all []byte, limit uint16, chunk uint8) {
		o := NewOutput(int(limit))
		for rest := all; len(rest) > 0; {
			n := min(int(chunk)+1, len(rest))
			o.Write(rest[:n])
			rest = rest[n:]
		}
		outputHolds(t, all, o, int(limit))
	})
}
