package policy

import (
	"strings"
	"unicode/utf8"
)

// decodeANSI reads what stands behind $' up to the closing quote, as Bash does: n is the number of bytes read, the
// closing quote included. A NUL ends the text, though not the quote.
func decodeANSI(s string) (text string, n int, ok bool) {
	var b strings.Builder
	nul := false
	put := func(t string) {
		if !nul {
			b.WriteString(t)
		}
	}
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\'':
			return b.String(), i + 1, true
		case c == '\\' && i+1 < len(s):
			t, w := ansiEscape(s[i+1:])
			if t == "\x00" {
				nul = true
			}
			put(t)
			i += 1 + w
		default:
			put(s[i : i+1])
			i++
		}
	}
	return "", 0, false
}

// ansiEscape decodes the escape that follows a backslash and says how many bytes it takes.
func ansiEscape(s string) (string, int) {
	switch s[0] {
	case 'a':
		return "\a", 1
	case 'b':
		return "\b", 1
	case 'e', 'E':
		return "\x1b", 1
	case 'f':
		return "\f", 1
	case 'n':
		return "\n", 1
	case 'r':
		return "\r", 1
	case 't':
		return "\t", 1
	case 'v':
		return "\v", 1
	case '\\', '\'', '"', '?':
		return s[:1], 1
	case '0', '1', '2', '3', '4', '5', '6', '7':
		v, n := number(s, 8, 3)
		return string([]byte{byte(v)}), n
	case 'x':
		if strings.HasPrefix(s[1:], "{") {
			v, n := number(s[2:], 16, len(s))
			n += 2
			if n < len(s) && s[n] == '}' {
				n++
			}
			return string([]byte{byte(v)}), n
		}
		if v, n := number(s[1:], 16, 2); n > 0 {
			return string([]byte{byte(v)}), 1 + n
		}
	case 'u', 'U':
		most := 4
		if s[0] == 'U' {
			most = 8
		}
		if v, n := number(s[1:], 16, most); n > 0 {
			return string(utf8.AppendRune(nil, rune(v))), 1 + n
		}
	case 'c':
		if len(s) > 1 {
			n := 2
			if s[1] == '\\' && len(s) > 2 && s[2] == '\\' {
				n = 3
			}
			return string([]byte{s[1] & 0x1f}), n
		}
	}
	return `\` + s[:1], 1
}

// number reads up to most digits of a base; it wraps around as Bash's own does.
func number(s string, base uint64, most int) (v uint64, n int) {
	for n < len(s) && n < most {
		d := uint64(99)
		switch c := s[n]; {
		case isDigit(c):
			d = uint64(c - '0')
		case 'a' <= c && c <= 'f':
			d = uint64(c-'a') + 10
		case 'A' <= c && c <= 'F':
			d = uint64(c-'A') + 10
		}
		if d >= base {
			break
		}
		v = v*base + d
		n++
	}
	return v, n
}
