package policy

import "strings"

// sed looks at the script: each value of -e or --expression, or else the first operand.
func (e *effecter) sed() {
	given := false
	operand := 0
	ws := e.ws
	only := false
	for i := 1; i < len(ws); i++ {
		w := &ws[i]
		t := w.text
		judge := func(j int, script string) {
			given = true
			if j >= len(ws) || !ws[j].known() || !sedHarmless(script) {
				if j < len(ws) {
					e.all(j)
				} else {
					e.all(i)
				}
			}
		}
		switch {
		case only || len(t) < 2 || t[0] != '-':
			if operand == 0 {
				operand = i
			}
		case t == "--" && w.known():
			only = true
		case strings.HasPrefix(t, "--"):
			name, value, glued := strings.Cut(t[2:], "=")
			switch {
			case !strings.HasPrefix("expression", name):
				if !glued && name != "" && strings.HasPrefix("line-length", name) {
					i++
				}
			case glued:
				judge(i, value)
			default:
				if i+1 < len(ws) {
					judge(i+1, ws[i+1].text)
				} else {
					judge(i, "")
				}
				i++
			}
		default:
			i = e.sedCluster(i, judge)
		}
	}
	if !given && operand > 0 && (!ws[operand].known() || !sedHarmless(ws[operand].text)) {
		e.all(operand)
	}
}

// sedCluster reads one word of short options and gives the index of its last word.
func (e *effecter) sedCluster(i int, judge func(int, string)) int {
	t := e.ws[i].text
	for k := 1; k < len(t); k++ {
		switch t[k] {
		case 'e':
			if k+1 < len(t) {
				judge(i, t[k+1:])
				return i
			}
			if i+1 < len(e.ws) {
				judge(i+1, e.ws[i+1].text)
			} else {
				judge(i, "")
			}
			return i + 1
		case 'l':
			if k+1 == len(t) {
				return i + 1
			}
			return i
		case 'f':
			if k+1 == len(t) {
				return i + 1
			}
			return i
		case 'i', 'I':
			return i
		}
	}
	return i
}

// sedScript reads scripts of the grammar in section 17a, whose commands only print, delete, move and substitute.
type sedScript struct {
	s string
	i int
}

// sedHarmless says whether a script lies within that grammar.
func sedHarmless(script string) bool {
	p := sedScript{s: script}
	for {
		p.skip(" \t;\n{}")
		if p.i == len(p.s) {
			return true
		}
		if !p.command() {
			return false
		}
		p.skip(" \t")
		if p.i < len(p.s) && strings.IndexByte(";\n{}", p.s[p.i]) < 0 {
			return false
		}
	}
}

func (p *sedScript) skip(set string) {
	for p.i < len(p.s) && strings.IndexByte(set, p.s[p.i]) >= 0 {
		p.i++
	}
}

func (p *sedScript) next() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

func (p *sedScript) digits() bool {
	from := p.i
	p.skip("0123456789")
	return p.i > from
}

// command reads addresses and one command.
func (p *sedScript) command() bool {
	some, ok := p.address(false)
	if !ok {
		return false
	}
	p.skip(" \t")
	if some && p.next() == ',' {
		p.i++
		p.skip(" \t")
		if some, ok = p.address(true); !ok || !some {
			return false
		}
	}
	p.skip(" \t")
	for p.next() == '!' {
		p.i++
		p.skip(" \t")
	}
	c := p.next()
	if c == '{' {
		return true // the list goes on inside
	}
	p.i++
	switch {
	case c == 0:
		return false
	case strings.IndexByte("pPdDnNgGhHxlzF=", c) >= 0:
		return true
	case c == 'q' || c == 'Q':
		p.skip(" \t")
		p.digits()
		return true
	case c == 'b' || c == 't' || c == 'T' || c == ':':
		p.skip(" \t")
		for p.i < len(p.s) && isNameByte(p.s[p.i]) {
			p.i++
		}
		return true
	case c == 'y':
		return p.parts(2)
	case c == 's':
		if !p.parts(2) {
			return false
		}
		p.skip("gpiImM0123456789")
		return true
	}
	return false
}

// address reads one address, if there is one.
func (p *sedScript) address(second bool) (some, ok bool) {
	switch c := p.next(); {
	case isDigit(c):
		p.digits()
		if p.next() == '~' {
			p.i++
			return true, p.digits()
		}
		return true, true
	case second && (c == '+' || c == '~'):
		p.i++
		return true, p.digits()
	case c == '$':
		p.i++
		return true, true
	case c == '/':
		if !p.parts(1) {
			return true, false
		}
	case c == '\\':
		p.i++
		if !p.parts(1) {
			return true, false
		}
	default:
		return false, true
	}
	p.skip("IM")
	return true, true
}

// parts reads n parts, each closed by the delimiter that stands first.
func (p *sedScript) parts(n int) bool {
	d := p.next()
	if d == 0 || d == '\\' || d == '\n' {
		return false
	}
	p.i++
	for range n {
		from := p.i
		for p.i < len(p.s) && p.s[p.i] != d {
			if p.s[p.i] == '\\' {
				p.i++
			}
			p.i++
		}
		if p.i >= len(p.s) {
			return false
		}
		if !bracketsClosed(p.s[from:p.i]) {
			return false
		}
		p.i++
	}
	return true
}

// bracketsClosed: escaped characters aside, a [ is closed in the same part, begins neither [] nor [^], and holds no
// other [ than [:name:], since implementations disagree about a delimiter inside of brackets.
func bracketsClosed(part string) bool {
	for i := 0; i < len(part); i++ {
		if part[i] == '\\' {
			i++
			continue
		}
		if part[i] != '[' {
			continue
		}
		i++
		rest := part[i:]
		if strings.HasPrefix(rest, "]") || strings.HasPrefix(rest, "^]") {
			return false
		}
		closed := false
		for ; i < len(part); i++ {
			if part[i] == ']' {
				closed = true
				break
			}
			if part[i] == '[' {
				n := strings.Index(part[i:], ":]")
				if !strings.HasPrefix(part[i:], "[:") || n < 2 || strings.Trim(part[i+2:i+n], "abcdefghijklmnopqrstuvwxyz") != "" {
					return false
				}
				i += n + 1
			}
		}
		if !closed {
			return false
		}
	}
	return true
}
