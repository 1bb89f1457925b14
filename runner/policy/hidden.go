package policy

import "strings"

// maxHiddenText bounds what is parsed as program text in one command, in bytes: texts in texts in words are read
// more than once.
const maxHiddenText = 4 << 20

// expand follows wrappers and program texts of every segment found so far (section 17, hidden segments).
func (a *analysis) expand(depth int) {
	old := a.items
	at := make([]int, len(old))
	out := make([]item, 0, len(old))
	for i, it := range old {
		at[i] = len(out)
		if it.loop >= 0 {
			it.loop = at[it.loop]
		}
		out = append(out, it)
		if it.unit == nil {
			continue
		}
		base := len(out)
		for _, h := range a.unitHidden(it.unit, depth) {
			if it.loop >= 0 {
				h.loop = it.loop
			} else if h.loop >= 0 {
				h.loop += base
			}
			out = append(out, h)
		}
	}
	a.items = out
}

// unitHidden reads what a unit carries, in each reading, and puts the readings of each carried segment together.
func (a *analysis) unitHidden(u *unit, depth int) []item {
	if len(u.readings) == 1 && u.readings[0] == u.stands {
		return a.hidden(u.stands, depth)
	}
	stands := (&analysis{unroll: a.unroll, budget: a.budget, inputs: map[input]int{}}).hidden(u.stands, depth)
	var lists [][]item
	same := true
	for _, s := range u.readings {
		lists = append(lists, a.hidden(s, depth))
		same = same && len(lists[len(lists)-1]) == len(lists[0])
	}
	if !same {
		var out []item
		for _, l := range lists {
			out = append(out, l...)
		}
		return out
	}
	out := lists[0]
	for k := range out {
		for _, l := range lists[1:] {
			if out[k].unit != nil && l[k].unit != nil {
				out[k].unit.readings = append(out[k].unit.readings, l[k].unit.readings...)
			} else {
				out[k].tokens = append(out[k].tokens, l[k].tokens...)
				out[k].writes = append(out[k].writes, l[k].writes...)
			}
		}
		if out[k].unit != nil && len(stands) == len(out) && stands[k].unit != nil {
			out[k].unit.stands = stands[k].unit.stands
		}
	}
	return out
}

// hidden looks into one segment: what it carries becomes items, what it may run becomes tails.
func (a *analysis) hidden(s *segment, depth int) []item {
	defer a.check(s)
	if s.time {
		if anyOpaque(s.flat) {
			s.issue("an output among the words of a wrapper")
		}
		return nil
	}
	if len(s.flat) == 0 {
		return nil
	}
	name := s.name()
	if name == "" {
		return nil
	}
	if isWrapper(name) && depth >= maxFollowed && a.carries(s, name) {
		a.unread(s, "wrappers nest too deeply to be followed", depth)
		return nil
	}
	switch {
	case in("unread", name):
		a.unread(s, name+" runs what it is given in a way that is not read", depth)
	case in("shell", name):
		return a.shell(s, name, depth)
	case in("shell-only", name):
		a.otherShell(s, name, depth)
	case name == "find", name == "fd", name == "fdfind":
		return a.find(s, name, depth)
	case name == "eval":
		return a.eval(s, depth)
	case name == "alias", name == "trap":
		return a.stored(s, name, depth)
	case name == "source", name == ".":
		return nil // see checkSource: it needs the whole command
	case name == "sudo", name == "doas":
		a.sudo(s, depth)
	case in("carrier", name):
		return a.carrier(s, name, depth)
	case name == "ssh":
		a.elsewhere(s, 1, name, depth)
	case in("elsewhere", name):
		for i := 1; i < len(s.flat); i++ {
			if w := &s.flat[i]; w.open() || w.canBe("exec") || w.canBe("run") {
				a.elsewhere(s, i+1, name, depth)
				break
			}
		}
	case a.mayRun(s.flat[0].text, name):
		a.inner(s, depth)
	}
	return nil
}

// mayRun: verbs that may run what they are given (section 17, carried elsewhere).
func (a *analysis) mayRun(verb, name string) bool {
	if in("runs", name) {
		return true
	}
	if name == "" || name == "ssh" || isWrapper(name) || in("builtin", name) || in("reader", name) || interpreter(name) {
		return false
	}
	_, named := theTables().effects[name]
	return !named
}

// carries: the wrapper has words behind it, so that there is something to follow.
func (a *analysis) carries(s *segment, name string) bool {
	return len(s.flat) > 1 && name != "sudo" && name != "doas"
}

func anyOpaque(ws []word) bool {
	for i := range ws {
		if ws[i].isOpaque() {
			return true
		}
	}
	return false
}

// carry makes the words of s from index i a segment of its own, and follows it.
func (a *analysis) carry(s *segment, from int, words []word, depth int) []item {
	s.wrapper = true
	if s.carried == nil {
		s.carried = make([]bool, len(s.flat))
	}
	for i := from; i < len(s.flat) && i < from+len(words); i++ {
		s.carried[i] = true
	}
	c := &segment{words: words, flat: flatten(words)}
	if from < len(s.flat) {
		// What a here-document hands over reaches the program that is carried.
		c.stdin = s.stdin
	}
	s.carries = append(s.carries, c)
	c.readable = s.readable && len(s.flat) > 0 && (s.flat[0].text == "builtin" || s.flat[0].text == "command")
	u := &unit{stands: c, readings: []*segment{c}}
	out := []item{{unit: u, loop: -1}}
	return append(out, a.hidden(c, depth+1)...)
}

// programText reads a text as a program: its segments are hidden ones.
func (a *analysis) programText(s *segment, text string, depth int) *analysis {
	sub := &analysis{unroll: a.unroll, budget: a.budget, plainEval: a.plainEval, inputs: a.inputs, weight: a.weight}
	// What is handed to the segment reaches the shells in its text, too.
	sub.groupInput = a.groupInput[:len(a.groupInput):len(a.groupInput)]
	if s.stdin != nil {
		sub.groupInput = append(sub.groupInput, s.stdin)
	}
	if *a.budget -= len(text) + 512; *a.budget < 0 {
		sub.issue("more program text than is read")
		return sub
	}
	sub.checkText(text)
	r := &reader{a: sub, depth: depth}
	r.program(text)
	sub.expand(depth)
	return sub
}

// merge takes over what a program text that will run has in common with the rest of the command.
func (a *analysis) merge(sub *analysis) {
	for n, times := range sub.loops {
		for range times {
			a.give(n, byFor)
		}
	}
	for n := range sub.given {
		a.give(n, byOther)
	}
	a.opaqueNames = a.opaqueNames || sub.opaqueNames
	a.unknownName = a.unknownName || sub.unknownName
	a.countReadings(0)
	a.readings += sub.readings
	a.most = max(a.most, sub.most)
}

// follow reads a text that s hands to a shell, for its opinion too.
func (a *analysis) follow(s *segment, text string, depth int) []item {
	sub := a.programText(s, text, depth+1)
	a.merge(sub)
	s.issues = append(s.issues, sub.issues...)
	if len(sub.items) == 0 {
		s.issue("a program text that runs nothing")
	}
	return sub.items
}

// visible reads a text of which only a part may be known, for deny and the ceilings alone.
func (a *analysis) visible(s *segment, w *word, t tail, depth int) {
	text, whole := programOf(w, "${x}")
	if strings.TrimSpace(text) == "" || depth >= maxFollowed+1 {
		return
	}
	weight := a.weight
	defer func() { a.weight = weight }()
	a.weight |= t.weight()
	if !whole && !parses(text) {
		// With nothing in the place of what is not known, it may parse.
		text, _ = programOf(w, "")
	}
	sub := a.programText(s, text, depth+1)
	for _, u := range sub.units() {
		for _, r := range u.readings {
			n := t
			n.seg, n.named = r, false
			n.all = !whole
			n.softWord = false
			s.tails = append(s.tails, n)
			for _, rt := range r.tails {
				rt.asks, rt.privilege = t.asks, t.privilege && rt.privilege
				rt.softDeny = rt.softDeny || t.softDeny
				s.tails = append(s.tails, rt)
			}
		}
	}
}

// programOf is a word as program text, each unknown part as unknown says; whole is false where there is one.
func programOf(w *word, unknown string) (text string, whole bool) {
	if w.tail {
		return "", false
	}
	var b strings.Builder
	whole = true
	for i := range w.pieces {
		switch p := &w.pieces[i]; p.kind {
		case param, opaque:
			b.WriteString(unknown)
			whole = false
		case numeric:
			b.WriteString("0")
		default:
			b.WriteString(p.text)
		}
	}
	return b.String(), whole
}
