package policy

import "strings"

// maxApart bounds how many texts in backticks and here-documents are read by themselves in one command.
const maxApart = 1000

// withoutBackticks leaves out what stands in backticks, and gives it apart. Bash looks into them only when it runs
// them, so a text in them that does not parse keeps nothing around it from running; the grammar library gives up the
// whole text. Quotes and comments are followed as far as it takes to find the backticks that count.
func withoutBackticks(text string) (blank string, inside []string) {
	var b strings.Builder
	double, open, start := false, false, 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text):
			if !open {
				b.WriteString(text[i : i+2])
			}
			i++
			continue
		case c == '`':
			if open {
				inside = append(inside, text[start:i])
			}
			open, start = !open, i+1
			b.WriteByte(c)
			continue
		case open:
			continue
		case c == '"':
			double = !double
		case c == '\'' && !double:
			end := strings.IndexByte(text[i+1:], '\'')
			if end < 0 {
				b.WriteString(text[i:])
				return b.String(), inside
			}
			b.WriteString(text[i : i+end+2])
			i += end + 1
			continue
		case c == '#' && !double && (i == 0 || strings.IndexByte(" \t\n;&|()", text[i-1]) >= 0):
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				return b.String(), inside
			}
			i += end
			b.WriteByte('\n')
			continue
		}
		b.WriteByte(c)
	}
	return b.String(), inside
}
