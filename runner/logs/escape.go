package logs

import (
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"brabo.dev/runner/runner/shown"
)

// escaped writes lines of JSON in which whatever a terminal would hide or obey stands by its number, as JSON itself
// lets it be written: the file may be looked at with any tool, and a reader of JSON gets the text as it was.
type escaped struct{ w io.Writer }

func (e escaped) Write(lines []byte) (int, error) {
	if _, err := e.w.Write(escape(lines)); err != nil {
		return 0, err
	}
	return len(lines), nil
}

// escape leaves line breaks, which end the lines, and what is no UTF-8.
func escape(lines []byte) []byte {
	var out []byte
	done := 0 // of lines, copied to out
	for i := 0; i < len(lines); {
		r, n := utf8.DecodeRune(lines[i:])
		if r != '\n' && (r != utf8.RuneError || n > 1) && shown.Hidden(r) {
			out = append(out, lines[done:i]...)
			if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
				out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
			} else {
				out = fmt.Appendf(out, `\u%04x`, r)
			}
			done = i + n
		}
		i += n
	}
	if out == nil {
		return lines
	}
	return append(out, lines[done:]...)
}
