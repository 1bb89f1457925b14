// Package shown makes visible what a terminal or a page would hide or obey, before a text is shown to a person. What a
// person decides about must be what they see, on the command line, in logs, on the page and through other doors alike,
// so the rule stands here once; the page's own copy of it is held against this one by a test.
package shown

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text shows control and bidirectional characters, blanks that are no space, characters without a shape, and bytes that
// are no UTF-8. Line breaks are shown, too.
func Text(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "<0x%02X>", s[i])
		case Hidden(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// Hidden reports whether r is shown by its number.
func Hidden(r rune) bool {
	return r != ' ' && (!unicode.IsGraphic(r) || unicode.Is(unicode.Zs, r)) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		r == '\u2800' // the empty Braille cell is graphic by its category
}

// Lines shows a text of several lines as such.
func Lines(s string) []string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = Text(l)
	}
	return lines
}
