package service

import (
	"strings"
	"testing"
)

func FuzzReadUnit(f *testing.F) {
	for _, d := range cases() {
		for _, h := range []Host{{System: "linux"}, {System: "darwin"}} {
			text, err := h.Unit(d)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Add("[X-Runner]\nDefinition={\"kind\":")
	f.Add("[Service]\nExecStart=\"a b\" --project x --api-url 'http")
	f.Fuzz(func(t *testing.T, text string) {
		for _, h := range []Host{{System: "linux"}, {System: "darwin"}} {
			if d, err := h.readUnit([]byte(text)); err == nil {
				// What was read can be written again.
				if _, err := h.Unit(d); err != nil {
					t.Errorf("%+v: %v", d, err)
				}
			}
		}
		after(unitWords([]byte(text)), "--api-url")
		after(plistWords([]byte(text)), "--api-url")
	})
}

// FuzzQuote holds the quoting of words against what systemd takes them for: nothing ends the word or the line.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "a b", `"`, `\`, "%h", "$HOME", "a\nb", "é\x00\xff", "'", ";"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q := quote(s)
		if strings.ContainsAny(q, "\n\r\x00") {
			t.Fatalf("%q became a line of its own: %q", s, q)
		}
		if back := unquote(t, q); back != s {
			t.Errorf("%q was read back as %q from %s", s, back, q)
		}
	})
}

// unquote reads one word as systemd.syntax(7) and systemd.unit(5) have it.
func unquote(t *testing.T, q string) string {
	t.Helper()
	quoted := strings.HasPrefix(q, `"`)
	if quoted {
		q = q[1:]
	}
	var b strings.Builder
	for i := 0; i < len(q); i++ {
		switch c := q[i]; {
		case c == '"' && quoted && i == len(q)-1:
			return b.String()
		case c == '"' || !quoted && (c == ' ' || c == '\'' || c == '\\'):
			t.Fatalf("the word ends at %d of %s", i, q)
		case c == '\\' && q[i+1] == 'x':
			b.WriteByte(hex(q[i+2])<<4 | hex(q[i+3]))
			i += 3
		case c == '\\':
			i++
			b.WriteByte(q[i])
		case c == '%':
			i++
			if q[i] != '%' {
				t.Fatalf("a specifier in %s", q)
			}
			b.WriteByte('%')
		default:
			b.WriteByte(c)
		}
	}
	if quoted {
		t.Fatalf("no quote ends %s", q)
	}
	return b.String()
}

func hex(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}
