package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible shows what a terminal would hide or obey: control and bidirectional characters, blanks that are no space,
// characters without a shape, and bytes that are no UTF-8. What a person decides about must be what they see.
func visible(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "<0x%02X>", s[i])
		case hiddenRune(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

func hiddenRune(r rune) bool {
	return r != ' ' && (!unicode.IsGraphic(r) || unicode.Is(unicode.Zs, r)) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		r == '\u2800' // the empty Braille cell is graphic by its category
}

// visibleLines shows a text of several lines as such.
func visibleLines(s string) []string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = visible(l)
	}
	return lines
}
