package policy

import "strings"

// find reads the commands that find, fd and fdfind run for each file.
func (a *analysis) find(s *segment, name string, depth int) []item {
	ws := s.flat
	for i := range ws[1:] {
		if w := &ws[i+1]; w.isParam() || w.isOpaque() {
			s.issue("a word of " + name + " that is not known")
			break
		}
	}
	var out []item
	carry := func(from, to int, in bool, holders []string) {
		words := make([]word, 0, to-from+1)
		holds := false
		for _, w := range ws[from:to] {
			r := w
			for _, h := range holders {
				r = r.replaced(h, piece{kind: found, text: h, quoted: name == "find" && !in})
			}
			holds = holds || r.isFound()
			if r.isFound() && (in || hasDotDot(r.text)) {
				r.outside = true
			}
			words = append(words, r)
		}
		if name != "find" && !holds {
			words = append(words, makeWord([]piece{{kind: found, text: "{}"}}))
		}
		if len(words) == 0 {
			s.issue("a command of " + name + " that is not written")
			return
		}
		out = append(out, a.carry(s, from, words[:], depth)...)
		carriedByInput(s, &words[0])
	}
	if name == "find" {
		for i := 1; i < len(ws); i++ {
			t := ws[i].text
			switch {
			case !ws[i].known():
			case t == "-files0-from":
				s.outside = true
			case t == "-exec" || t == "-execdir" || t == "-ok" || t == "-okdir":
				end := endOfExec(ws, i+1, t == "-exec" || t == "-execdir")
				carry(i+1, end, t == "-execdir" || t == "-okdir", []string{"{}"})
				i = end
			}
		}
		return out
	}
	for i := 1; i < len(ws); i++ {
		t := ws[i].text
		if !ws[i].known() {
			continue
		}
		if strings.HasPrefix(t, "--exec=") || strings.HasPrefix(t, "--exec-batch=") {
			a.unread(s, "options of "+name+" that are not read", depth)
			continue
		}
		at := fdExec(t)
		if at < 0 && t != "--exec" && t != "--exec-batch" {
			if t == "--" {
				break
			}
			continue
		}
		if at >= 0 && at != len(t)-1 {
			a.unread(s, "options of "+name+" that are not read", depth)
			continue
		}
		end := i + 1
		for end < len(ws) && ws[end].text != ";" {
			end++
		}
		carry(i+1, end, false, []string{"{//}", "{/.}", "{/}", "{.}", "{}"})
		i = end
	}
	return out
}

// endOfExec finds the ; or, for -exec and -execdir, the + directly behind {} that ends a command of find.
func endOfExec(ws []word, i int, plus bool) int {
	for ; i < len(ws); i++ {
		if !ws[i].known() {
			continue
		}
		if ws[i].text == ";" || plus && ws[i].text == "+" && i > 0 && ws[i-1].text == "{}" {
			break
		}
	}
	return i
}

// fdExec finds -x or -X in a cluster of fd; -1 where it has none.
func fdExec(t string) int {
	if len(t) < 2 || t[0] != '-' || t[1] == '-' {
		return -1
	}
	for i := 1; i < len(t); i++ {
		switch {
		case t[i] == 'x' || t[i] == 'X':
			return i
		case strings.IndexByte("CEScdejot", t[i]) >= 0:
			return -1
		}
	}
	return -1
}

// hasDotDot says whether a path has a component "..".
func hasDotDot(p string) bool {
	for {
		n := strings.Index(p, "..")
		if n < 0 {
			return false
		}
		if (n == 0 || p[n-1] == '/') && (n+2 == len(p) || p[n+2] == '/') {
			return true
		}
		p = p[n+2:]
		if strings.HasPrefix(p, ".") {
			// "..." is a name; go on behind all its dots.
			p = "x" + strings.TrimLeft(p, ".")
			continue
		}
	}
}
