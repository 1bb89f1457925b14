package policy

import "strings"

// word gives what a word, or the part of it behind an equals sign or an option's letter, names of the protected.
func (s *shield) word(w *word, dirs []seenFrom) string {
	if w.tail || w.text == "" {
		return ""
	}
	if hit := s.text(w.text); hit != "" {
		return hit
	}
	parts := []word{*w}
	f := w.front()
	if n := strings.IndexByte(f, '='); n >= 0 {
		parts = append(parts, s.behind(w, n+1))
	}
	if len(f) > 2 && f[0] == '-' && isLetter(f[1]) {
		parts = append(parts, w.after(2))
	}
	for i := range parts {
		if s.names(&parts[i], dirs) {
			return w.text
		}
	}
	return ""
}

// behind is what stands behind the first n bytes; some shells and programs resolve a tilde there.
func (s *shield) behind(w *word, n int) word {
	v := w.after(n)
	if home := s.Variables["HOME"]; home != "" && v.plain() && (v.text == "~" || strings.HasPrefix(v.text, "~/")) {
		return literal(home + v.text[1:])
	}
	return v
}

// names looks at the components of a word, as seen from each directory.
func (s *shield) names(w *word, dirs []seenFrom) bool {
	last := w.lastPart()
	last.text = fold(last.text)
	for _, f := range s.Files {
		// A glob that says little of the name is about other files.
		if can(&last, fold(f)) && (!last.isGlob() || len(last.front()) >= leastOfName) {
			return true
		}
	}
	if through, ok := throughProcess(w); ok {
		return s.names(&through, dirs)
	}
	if strings.HasPrefix(w.text, "/") {
		return s.inside(s.pathOf("", w))
	}
	// Most words lie below a folder that has nothing of ours in it.
	below := w.plain() && !hasDotDot(w.text)
	for _, d := range dirs {
		if s.looked > maxLooks {
			return false // command says so
		}
		if (!below || d.holds) && s.inside(s.pathOf(d.dir, w)) {
			return true
		}
	}
	return false
}

// throughProcess gives what a word names through the root or the folder of a process in /proc, as if it were this one's.
func throughProcess(w *word) (word, bool) {
	rest, isProc := strings.CutPrefix(w.front(), "/proc/")
	_, rest, behind := strings.Cut(rest, "/")
	if !isProc || !behind {
		return word{}, false
	}
	at := len(w.front()) - len(rest)
	switch {
	case strings.HasPrefix(rest, "root/"):
		return w.after(at + len("root")), true
	case strings.HasPrefix(rest, "cwd/"):
		return w.after(at + len("cwd/")), true
	}
	return word{}, false
}

// aside stands for a component that leads away from all protected folders; nothing else is spelled so.
const aside = "\x00"

// placed is a directory as far as it matters: the components that lead away from the protected folders have no names, so
// that all directories as deep beside the way to one are the same. Without that there were twice as many after each cd.
func (s *shield) placed(dir string) string {
	comps := split(dir)
	on := 0 // components that lead to a protected folder, or into it
	for _, folder := range s.folders {
		n := 0
		for n < len(comps) && n < len(folder) && comps[n] == folder[n] {
			n++
		}
		if n == len(folder) {
			return dir
		}
		on = max(on, n)
	}
	for i := on; i < len(comps); i++ {
		comps[i] = aside
	}
	return "/" + strings.Join(comps, "/")
}

// holds: a protected folder lies directly or deeper in dir.
func (s *shield) holds(dir string) bool {
	dir = fold(cleanPath(dir))
	for _, f := range s.Folders {
		if dir == "/" || below(fold(cleanPath(f)), dir) {
			return true
		}
	}
	return false
}

// leastOfName is how many characters of a file's name a glob has to give.
const leastOfName = 6

// pathOf gives the components of a word as seen from a directory, as guard.path does; what is not known of them stays
// not known.
func (s *shield) pathOf(dir string, w *word) []word {
	s.looked += 1 + strings.Count(dir, "/")
	if !w.open() {
		return (&guard{}).path(dir, w)
	}
	var out []word
	if !strings.HasPrefix(w.text, "/") {
		for _, c := range split(dir) {
			out = append(out, literal(c))
		}
	}
	for _, c := range components(w) {
		cw := makeWord(c)
		switch {
		case cw.text == "" || cw.text == ".":
		case cw.text == "..":
			out = out[:max(0, len(out)-1)]
		case cw.open():
			out = append(out, cw)
		default:
			for i := range cw.pieces {
				cw.pieces[i].text = fold(cw.pieces[i].text)
			}
			out = append(out, makeWord(cw.pieces))
		}
	}
	return out
}

func (s *shield) path(dir, text string) []word {
	w := literal(text)
	return s.pathOf(dir, &w)
}

// inside: a protected folder, or something in it. One component may be unknown: it could be the missing one.
func (s *shield) inside(path []word) bool {
	for _, folder := range s.folders {
		if len(path) >= len(folder) && alike(path[:len(folder)], folder) {
			return true
		}
	}
	return false
}

// alike: the components can be these names, at most one of them because it is not known.
func alike(path []word, names []string) bool {
	unknown := 0
	for i, name := range names {
		switch c := &path[i]; {
		case c.open():
			unknown++
		case !can(c, name):
			return false
		}
	}
	return unknown == 0 || unknown == 1 && len(names) > 1
}

// around finds a word of a program that takes whole trees, where it is a folder around a protected one. orig is seg before
// its words were resolved; what it surely runs is looked at too.
func (s *shield) around(seg, orig *segment, dirs []seenFrom) string {
	if takesTrees(seg) {
		return s.trees(seg.flat, dirs)
	}
	for i := range orig.tails {
		t := &orig.tails[i]
		if t.asks {
			continue // a guess, or somewhere else
		}
		from := 0
		if t.all {
			for from < len(t.seg.flat) && !takesTrees(&segment{words: t.seg.flat[from:], flat: t.seg.flat[from:]}) {
				from++
			}
		}
		if s.looked += from; from == len(t.seg.flat) || s.looked > maxLooks {
			continue
		}
		if c := (&segment{words: t.seg.flat[from:], flat: t.seg.flat[from:]}); takesTrees(c) {
			if hit := s.trees(s.words(c.flat), dirs); hit != "" {
				return hit
			}
		}
	}
	return ""
}

// takesTrees: the program takes whole trees, with these words.
func takesTrees(seg *segment) bool {
	switch name := seg.name(); {
	case name == "cp":
		return cpDeep(seg.flat)
	case name == "find":
		return len(seg.effectWords()) > 0
	default:
		return in("whole-tree", name) || name == "ln" || name == "tar" || name == "zip"
	}
}

// trees finds a word that is a folder around a protected one.
func (s *shield) trees(flat []word, dirs []seenFrom) string {
	for i := 1; i < len(flat); i++ {
		w := &flat[i]
		if w.tail || w.text == "" || strings.HasPrefix(w.front(), "-") {
			continue
		}
		for _, d := range dirs {
			if s.looked > maxLooks {
				return "" // command says so
			}
			p := s.pathOf(d.dir, w)
			for _, folder := range s.folders {
				if len(p) < len(folder) && alike(p, folder[:len(p)]) {
					return w.text
				}
			}
		}
	}
	return ""
}

// text gives the protected path that is written in a longer text, a program's for instance; "" where there is none.
func (s *shield) text(t string) string {
	if !hasByte(t, '/') && !hasByte(t, '.') {
		return ""
	}
	t = fold(t)
	for _, name := range s.spelled {
		if written(t, fold(name)) {
			return name
		}
	}
	return ""
}

// spellings are the texts in which protected things are written.
func (p Protected) spellings() []string {
	var all []string
	for _, folder := range p.Folders {
		folder = cleanPath(folder)
		all = append(all, folder)
		for name, value := range p.Variables {
			rest, found := strings.CutPrefix(folder, cleanPath(value))
			if !found || value == "" || !strings.HasPrefix(rest, "/") {
				continue
			}
			all = append(all, "$"+name+rest, "${"+name+"}"+rest)
			if name == "HOME" {
				all = append(all, "~"+rest)
			}
		}
	}
	return append(all, p.Files...)
}

// written: name stands in text as a whole.
func written(text, name string) bool {
	for from := 0; ; {
		n := strings.Index(text[from:], name)
		if n < 0 {
			return false
		}
		begin, end := from+n, from+n+len(name)
		if (begin == 0 || !inName(text[begin-1])) && (end == len(text) || !inName(text[end])) {
			return true
		}
		from = begin + 1
	}
}

// inName: the character goes on with a file's name.
func inName(c byte) bool {
	return isNameByte(c) || c == '-' || c == '.' || c >= 0x80
}
