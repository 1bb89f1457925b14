package policy

import (
	"strconv"
	"strings"
)

// The limits of brace expansion. The first is section 17's; the others only bound the work, since what exceeds them
// is unresolved like what exceeds the first.
const (
	maxBraceWords = 1024
	maxBraceDepth = 64
	maxBraceOpens = 512
	maxBraceSteps = 1 << 20
)

// elem is a piece, or one unquoted character that brace expansion looks at.
type elem struct {
	piece
	sign byte // '{', '}' or ',' where unquoted
}

// bracer expands braces as Bash does: text first, before anything else is expanded.
type bracer struct {
	left  int // words that may still be made
	opens int
	steps int
	over  bool
}

// expand gives the words that es stands for; with no brace expansion in it, es itself and false.
func (b *bracer) expand(es []elem, depth int) ([][]elem, bool) {
	if depth > maxBraceDepth {
		b.over = true
		return [][]elem{es}, false
	}
	for i := 0; i < len(es); i++ {
		if es[i].sign != '{' {
			continue
		}
		if b.opens++; b.opens > maxBraceOpens {
			b.over = true
			return [][]elem{es}, false
		}
		end, commas := b.match(es, i+1)
		if b.over {
			return [][]elem{es}, false
		}
		if end < 0 {
			continue
		}
		var parts [][]elem
		if commas {
			for _, part := range splitCommas(es[i+1 : end]) {
				sub, _ := b.expand(part, depth+1)
				parts = append(parts, sub...)
			}
		} else if parts = b.sequence(es[i+1 : end]); parts == nil {
			i = end
			continue
		}
		rest, _ := b.expand(es[end+1:], depth+1)
		if len(parts)*len(rest) > b.left {
			b.over = true
			return [][]elem{es}, true
		}
		var out [][]elem
		for _, p := range parts {
			for _, r := range rest {
				one := make([]elem, 0, i+len(p)+len(r))
				one = append(append(append(one, es[:i]...), p...), r...)
				out = append(out, one)
			}
		}
		return out, true
	}
	return [][]elem{es}, false
}

// match finds the } that closes a list or a range opened in front of from. A } that closes none is a character.
func (b *bracer) match(es []elem, from int) (end int, commas bool) {
	level, dots := 0, false
	if b.steps += len(es) - from; b.steps > maxBraceSteps {
		b.over = true
		return -1, false
	}
	for i := from; i < len(es); i++ {
		switch es[i].sign {
		case '{':
			level++
		case '}':
			if level == 0 && (commas || dots) {
				return i, commas
			}
			if level > 0 {
				level--
			}
		case ',':
			commas = commas || level == 0
		default:
			// Two dots in front of the closing brace are no range.
			if level == 0 && es[i].kind == fixed && !es[i].quoted {
				n := strings.Index(es[i].text, "..")
				if n >= 0 && !(n+2 == len(es[i].text) && i+1 < len(es) && es[i+1].sign == '}') {
					dots = true
				}
			}
		}
	}
	return -1, false
}

func splitCommas(es []elem) [][]elem {
	var out [][]elem
	level, from := 0, 0
	for i := range es {
		switch es[i].sign {
		case '{':
			level++
		case '}':
			if level > 0 {
				level--
			}
		case ',':
			if level == 0 {
				out = append(out, es[from:i])
				from = i + 1
			}
		}
	}
	return append(out, es[from:])
}

// sequence reads a range of numbers or of letters, with or without a step; nil means that it is none.
func (b *bracer) sequence(es []elem) [][]elem {
	var text strings.Builder
	for i := range es {
		if es[i].kind != fixed || es[i].quoted {
			return nil
		}
		text.WriteString(es[i].text)
	}
	parts := strings.Split(text.String(), "..")
	if len(parts) != 2 && len(parts) != 3 {
		return nil
	}
	step := 0
	if len(parts) == 3 {
		n, err := strconv.Atoi(parts[2])
		if err != nil {
			return nil
		}
		step = max(n, -n)
	}
	if step == 0 {
		step = 1
	}
	from, err1 := strconv.Atoi(parts[0])
	to, err2 := strconv.Atoi(parts[1])
	show := func(n int) string { return string(rune(n)) }
	switch {
	case err1 == nil && err2 == nil:
		width := padWidth(parts[0], parts[1])
		show = func(n int) string { return padded(n, width) }
	case len(parts[0]) == 1 && len(parts[1]) == 1 && isLetter(parts[0][0]) && isLetter(parts[1][0]):
		from, to = int(parts[0][0]), int(parts[1][0])
	default:
		return nil
	}
	if step < 0 || (max(from, to)-min(from, to))/step >= b.left || max(from, to)-min(from, to) < 0 {
		b.over = true
		return nil
	}
	var out [][]elem
	add := func(n int) {
		out = append(out, []elem{{piece: piece{kind: fixed, text: show(n)}}})
	}
	if from <= to {
		for n := from; n <= to; n += step {
			add(n)
		}
	} else {
		for n := from; n >= to; n -= step {
			add(n)
		}
	}
	return out
}

// padWidth is the width that leading zeros of either end ask for; 0 without any.
func padWidth(a, b string) int {
	zeros := func(s string) bool {
		s = strings.TrimLeft(s, "+-")
		return len(s) > 1 && s[0] == '0'
	}
	if zeros(a) || zeros(b) {
		return max(len(a), len(b))
	}
	return 0
}

func padded(n, width int) string {
	s := strconv.Itoa(max(n, -n))
	sign := ""
	if n < 0 {
		sign = "-"
	}
	if pad := width - len(s) - len(sign); pad > 0 {
		s = strings.Repeat("0", pad) + s
	}
	return sign + s
}
