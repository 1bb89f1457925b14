package policy

import "strings"

// gitLead is what stands directly behind the verb git of --no-pager and of -C with its DIR (section 8).
type gitLead struct {
	words int // words of it, the verb not counted
	dirs  []word
	at    []int // where they stand
	known bool  // every DIR is
}

// leadOf reads git's lead from words without braces expanded; a DIR is not loose, has no braces and no tilde.
func leadOf(ws []word) gitLead {
	l := gitLead{known: true}
	if len(ws) == 0 || !ws[0].known() || lastPart(ws[0].text) != "git" {
		return l
	}
	for i := 1; i < len(ws); {
		w := &ws[i]
		if !w.plain() {
			break
		}
		if w.text == "--no-pager" {
			i++
			l.words = i - 1
			continue
		}
		if w.text != "-C" || i+1 >= len(ws) {
			break
		}
		d := &ws[i+1]
		if d.loose || d.braced || d.isTilde() || d.tail {
			break
		}
		l.dirs = append(l.dirs, *d)
		l.at = append(l.at, i+1)
		l.known = l.known && d.known()
		i += 2
		l.words = i - 1
	}
	return l
}

// gitSub is the index of git's subcommand, or the number of words.
func (e *effecter) gitSub() int {
	i := 1
	for i < len(e.ws) {
		w := &e.ws[i]
		t := w.text
		if !w.known() || !strings.HasPrefix(t, "-") {
			return i
		}
		switch t {
		case "-c", "--config-env", "--git-dir", "-C", "--work-tree", "--namespace":
			i++
		}
		i++
	}
	return i
}

// gitFront: options in front of the subcommand; what is not known there, the subcommand included, may be one.
func (e *effecter) gitFront() int {
	sub := e.gitSub()
	for i := 1; i < min(sub, len(e.ws)); i++ {
		t := e.ws[i].text
		name, _, _ := strings.Cut(t, "=")
		switch {
		case t == "-C" || t == "--work-tree" || t == "--namespace":
			i++
			continue
		case strings.HasPrefix(t, "-c"):
			e.add(i, 2)
			if t == "-c" {
				i++
			}
			continue
		case t == "-p":
			e.all(i)
			continue
		}
		if len(name) > 2 && strings.HasPrefix(name, "--") {
			for _, l := range []string{"config-env", "exec-path", "git-dir", "paginate"} {
				if strings.HasPrefix(l, name[2:]) {
					e.add(i, len(name))
				}
			}
			if name == t && (t == "--config-env" || t == "--git-dir") {
				i++
			}
		}
	}
	return min(sub+1, len(e.ws))
}

// api: gh api sends, unless its method is GET or HEAD and it has no fields.
func (e *effecter) api(sub int) {
	reads := func(v string) bool { return v == "GET" || v == "HEAD" }
	for i := sub + 1; i < len(e.ws); i++ {
		w := &e.ws[i]
		t := w.text
		next := func() bool { return i+1 < len(e.ws) && e.ws[i+1].known() && reads(e.ws[i+1].text) }
		name, value, glued := strings.Cut(t, "=")
		switch {
		case len(name) > 2 && strings.HasPrefix("--method", name):
			if glued && !(w.known() && reads(value)) || !glued && !next() {
				e.add(i, len(name))
			}
		case len(t) > 1 && t[0] == '-' && t[1] != '-':
			for k := 1; k < len(t); k++ {
				if t[k] == 'X' {
					v := strings.TrimPrefix(t[k+1:], "=")
					if v != "" && !(w.known() && reads(v)) || v == "" && !next() {
						e.add(i, k+1)
					}
					break
				}
				if strings.IndexByte("HpqtfF", t[k]) >= 0 {
					break
				}
			}
		}
	}
}

// gh: the second word behind the verb must be one that reads.
func (e *effecter) gh() int {
	ws := e.ws
	if len(ws) > 1 && ws[1].known() && ws[1].text == "api" {
		return 1
	}
	if len(ws) < 3 {
		return len(ws)
	}
	first, second := &ws[1], &ws[2]
	if strings.HasPrefix(first.front(), "-") {
		e.all(1)
	}
	if first.known() && first.text == "search" {
		return 3
	}
	switch {
	case !second.known():
	case listed([]string{"list", "view", "status", "diff", "checks", "search", "watch"}, second.text):
		return 3
	}
	e.all(2)
	return 3
}
