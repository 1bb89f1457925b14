package shown

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON is a JSON text of the same meaning that shows what a terminal or a page would hide or obey. Its own line breaks and
// tabs stay.
func JSON(text []byte) []byte {
	var b bytes.Buffer
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r < utf8.RuneSelf && r != 0x7f, !Hidden(r): // those below the blank stand in no string as they are
			b.Write(text[i : i+n])
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += n
	}
	return b.Bytes()
}
