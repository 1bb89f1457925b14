package policy

import "strings"

// unread gives up on a wrapper's own words: every tail of them counts, and every text among them.
func (a *analysis) unread(s *segment, reason string, depth int) {
	s.issue(reason)
	s.wrapper = true
	ws := s.flat[min(1, len(s.flat)):]
	t := tail{privilege: true}
	if len(ws) > 0 {
		all := t
		all.seg, all.all = &segment{words: ws, flat: ws}, true
		s.tails = append(s.tails, all)
	}
	a.texts(s, ws, t, depth, true)
	if in("shell", s.name()) {
		// Whatever the options mean, a shell reads its input sooner or later.
		a.input(s, depth)
	}
}

// texts reads the program texts among words that may be run: the operand of a shell's -c, and every known word, or
// with parts the part of one behind its first = or behind a dash and a letter, that holds a blank or an operator.
func (a *analysis) texts(s *segment, ws []word, t tail, depth int, parts bool) {
	if depth >= maxFollowed {
		return
	}
	read := make([]bool, len(ws))
	for i := range ws {
		n := lastPart(ws[i].text)
		switch {
		case !ws[i].known():
		case in("shell", n) || in("shell-only", n):
			if j := shellText(ws, i); j > 0 && !read[j] {
				read[j] = true
				hard := t
				hard.softWord, hard.softDeny = false, false
				a.visible(s, &ws[j], hard, depth)
			}
		case n == "xargs" || n == "find" || n == "eval":
			c := &segment{words: ws[i:], flat: ws[i:]}
			sub := &analysis{budget: a.budget, inputs: map[input]int{}}
			*a.budget -= 16 * len(ws[i:])
			if *a.budget < 0 {
				break
			}
			for _, h := range sub.hidden(c, max(depth, maxFollowed-2)) {
				if h.unit != nil {
					for _, r := range h.unit.readings {
						n := t
						n.seg, n.named = r, false
						s.tails = append(s.tails, n)
					}
				}
			}
		}
	}
	for i := range ws {
		w := &ws[i]
		if read[i] || !w.known() {
			continue
		}
		soft := t
		soft.softDeny = t.asks
		candidates := []string{w.text}
		if parts {
			if _, v, ok := strings.Cut(w.text, "="); ok {
				candidates = append(candidates, v)
			}
			if len(w.text) > 2 && w.text[0] == '-' && isLetter(w.text[1]) {
				candidates = append(candidates, w.text[2:])
			}
		}
		for _, c := range candidates {
			if strings.ContainsAny(c, " \t\n;&|<>()") {
				l := literal(c)
				a.visible(s, &l, soft, depth)
			}
		}
	}
}

// shellText finds the program text of a shell at ws[i], behind whatever options; 0 where there is none.
func shellText(ws []word, i int) int {
	for j := i + 1; j < len(ws) && j < i+32; j++ {
		t := ws[j].text
		if len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.IndexByte(t, 'c') > 0 {
			for k := j + 1; k < len(ws) && k < j+32; k++ {
				if o := ws[k].text; o == "" || o[0] != '-' && o[0] != '+' {
					return k
				}
			}
			return 0
		}
	}
	return 0
}

// maxSudoTails bounds the tails of sudo that are looked into for wrappers and texts.
const maxSudoTails = 64

// sudo tries each tail in front of which only options, a word directly behind each, and assignments stand.
func (a *analysis) sudo(s *segment, depth int) {
	optionWord, looks := false, 0
	for i := 1; i < len(s.flat); i++ {
		w := &s.flat[i]
		c := &segment{words: s.flat[i:], flat: s.flat[i:]}
		s.tails = append(s.tails, tail{seg: c})
		if c.is("sudo", "doas") {
			optionWord = false
			continue
		}
		if looks++; looks <= maxSudoTails && !strings.HasPrefix(w.front(), "-") {
			sub := &analysis{budget: a.budget, inputs: map[input]int{}}
			for _, h := range sub.hidden(c, depth+1) {
				if h.unit != nil {
					for _, r := range h.unit.readings {
						s.tails = append(s.tails, tail{seg: r})
					}
				}
			}
			for _, t := range c.tails {
				t.privilege, t.asks = false, false
				s.tails = append(s.tails, t)
			}
		}
		name, _, isAssign := strings.Cut(w.front(), "=")
		switch {
		case strings.HasPrefix(w.front(), "-"):
			optionWord = true
		case isAssign && isName(name):
			optionWord = false
		case optionWord:
			optionWord = false
		default:
			return
		}
	}
}

// elsewhere tries the words from index from, which a segment carries to another place (section 17).
func (a *analysis) elsewhere(s *segment, from int, name string, depth int) {
	if from >= len(s.flat) {
		return
	}
	ws := s.flat[from:]
	t := tail{privilege: true, asks: true}
	all := t
	all.seg, all.all = &segment{words: ws, flat: ws}, true
	s.tails = append(s.tails, all)
	a.texts(s, ws, t, depth, false)
	if name != "ssh" {
		return
	}
	last := -1
	for i := range ws {
		if !ws[i].known() {
			last = i
		}
	}
	var parts []string
	for i := last + 1; i < len(ws); i++ {
		parts = append(parts, ws[i].text)
	}
	joined := strings.Join(parts, " ")
	if joined == "" || depth >= maxFollowed {
		return
	}
	n := len(s.tails)
	l := literal(joined)
	a.visible(s, &l, t, depth)
	if n < len(s.tails) {
		s.tails[n].all = true // the host stands in front
	}
}

// inner tries the words of a verb that may run what it is given.
func (a *analysis) inner(s *segment, depth int) {
	if len(s.flat) < 2 {
		return
	}
	ws := s.flat[1:]
	t := tail{privilege: true, asks: true, softWord: true}
	all := t
	all.seg, all.all, all.named = &segment{words: ws, flat: ws}, true, true
	s.tails = append(s.tails, all)
	a.texts(s, ws, t, depth, false)
}
