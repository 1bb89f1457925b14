package policy

import "strings"

// guard looks for written names of guarded files (section 17b).
type guard struct {
	root []string // components of the scope root, folded; nil where unknown
}

func newGuard(root string) *guard {
	if root == "" {
		return &guard{}
	}
	return &guard{root: split(root)}
}

// split gives the folded components of a clean absolute path.
func split(p string) []string {
	return strings.FieldsFunc(fold(p), func(r rune) bool { return r == '/' })
}

// fold lowers ASCII letters, since a file system may not tell them apart.
func fold(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for j := i; j < len(b); j++ {
				if 'A' <= b[j] && b[j] <= 'Z' {
					b[j] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// path is a word as seen from a directory: its components, those of the directory in front, . and .. resolved.
func (g *guard) path(dir string, w *word) []word {
	comps := components(w)
	var out []word
	if !strings.HasPrefix(w.text, "/") {
		for _, c := range split(dir) {
			out = append(out, literal(c))
		}
	}
	for _, c := range comps {
		cw := makeWord(c)
		cw.text = fold(cw.text)
		switch {
		case cw.text == "" || cw.text == ".":
			continue
		case cw.text == ".." || cw.isGlob() && strings.HasPrefix(cw.text, ".") && cw.canBe(".."):
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
			continue
		}
		if !cw.isGlob() {
			cw = literal(cw.text)
		} else {
			for i := range cw.pieces {
				cw.pieces[i].text = fold(cw.pieces[i].text)
			}
		}
		out = append(out, cw)
	}
	return out
}

// can says whether a component can be a name; the signs of a glob stand for no dot in front.
func can(c *word, name string) bool {
	if c.has == 1<<fixed {
		return c.text == name
	}
	if name[0] == '.' && c.isGlob() {
		if len(c.pieces) == 0 || c.pieces[0].kind == star || c.pieces[0].kind == quest {
			return false
		}
	}
	return c.canBe(name)
}

// guarded says whether a word can name a guarded file, from any of the directories.
func (g *guard) guarded(w *word, dirs []string) bool {
	if w.tail || w.text == "" {
		return false
	}
	if strings.HasPrefix(w.text, "/") {
		return g.names(g.path("", w))
	}
	if !w.isGlob() && !hasByte(w.text, '/') && w.text[0] != '.' && fold(w.text) != "permissions.json" && !g.ordinaryDirs(dirs) {
		return false
	}
	for _, d := range dirs {
		if g.names(g.path(d, w)) {
			return true
		}
	}
	return false
}

// ordinaryDirs: one of the directories lies in a guarded place, so that every name in it needs a look.
func (g *guard) ordinaryDirs(dirs []string) bool {
	for _, d := range dirs {
		if strings.Contains(d, "/.") {
			return true
		}
	}
	return false
}

// names looks at the components of a path. Above the scope root nothing is looked for.
func (g *guard) names(path []word) bool {
	if len(path) == 0 {
		return false
	}
	below := path
	if g.root != nil && len(path) > len(g.root) {
		same := true
		for i := range g.root {
			same = same && can(&path[i], g.root[i])
		}
		if same {
			below = path[len(g.root):]
			if len(below) == 1 && can(&below[0], "permissions.json") {
				return true
			}
		}
	} else if g.root == nil && can(&path[len(path)-1], "permissions.json") {
		return true
	}
	for i := range below {
		c, rest := &below[i], below[i+1:]
		for _, f := range []string{".claude", ".codex", ".gemini", ".cursor", ".vscode", ".idea", ".devcontainer", ".husky"} {
			if can(c, f) {
				return true
			}
		}
		if len(rest) == 0 && (can(c, ".mcp.json") || can(c, ".envrc")) {
			return true
		}
		if can(c, ".git") && inGit(rest) {
			return true
		}
	}
	return false
}

// inGit: what stands below .git is guarded, or is the folder itself.
func inGit(rest []word) bool {
	if len(rest) == 0 {
		return true
	}
	first := &rest[0]
	for _, f := range []string{"hooks", "modules", "worktrees"} {
		if can(first, f) {
			return true
		}
	}
	if len(rest) == 1 {
		return can(first, "config") || can(first, "config.worktree") || can(first, "commondir")
	}
	return len(rest) == 2 && can(first, "info") && can(&rest[1], "attributes")
}

// holdsRoot: the word is the root or a folder above it.
func (g *guard) holdsRoot(w *word, dirs []string) bool {
	if g.root == nil || w.tail || w.text == "" {
		return false
	}
	for _, d := range dirs {
		p := g.path(d, w)
		if len(p) > len(g.root) {
			continue
		}
		same := true
		for i := range p {
			same = same && can(&p[i], g.root[i])
		}
		if same {
			return true
		}
	}
	return false
}

// policyFile finds what in a command may change a guarded file; empty where nothing does.
func (a *analysis) policyFile(s *scope) string {
	g := newGuard(s.root)
	for i := range a.items {
		it := &a.items[i]
		dirs := s.dirs[:max(s.upto[i], 1)]
		hit := ""
		look := func(w *word) {
			w.each(func(x *word) {
				if hit == "" && g.guarded(x, dirs) {
					hit = x.text
				}
			})
		}
		for k := range it.writes {
			look(&it.writes[k])
		}
		if it.unit != nil {
			for _, seg := range it.unit.readings {
				for k := range seg.targets {
					if seg.targets[k].writes {
						look(&seg.targets[k].word)
					}
				}
				if hit == "" {
					hit = g.segment(seg, dirs)
				}
			}
		}
		if hit != "" {
			return hit
		}
	}
	return ""
}

// segment looks at the words behind the verb of a segment that is no pure reader.
func (g *guard) segment(seg *segment, dirs []string) string {
	if len(seg.flat) < 2 || seg.pureReader() {
		return ""
	}
	if lead := leadOf(seg.flat); len(lead.dirs) > 0 {
		dirs = withLead(dirs, lead)
	}
	name := seg.name()
	skip := seg.findLeavesOut()
	env := name == "env" || in("declares", name)
	whole := in("whole-tree", name) && (name != "cp" || cpDeep(seg.flat))
	for i := 1; i < len(seg.flat); i++ {
		w := &seg.flat[i]
		if len(seg.carried) > i && seg.carried[i] || skip[i] == leftOut {
			continue
		}
		x := *w
		if skip[i] == asGlob {
			x = asGlobWord(w)
		}
		n := strings.IndexByte(w.front(), '=')
		if env && n > 0 && isName(strings.TrimSuffix(w.front()[:n], "+")) {
			continue
		}
		if g.guarded(&x, dirs) {
			return w.text
		}
		if n >= 0 {
			v := w.after(n + 1)
			if g.guarded(&v, dirs) {
				return w.text
			}
		}
		if f := w.front(); len(f) > 2 && f[0] == '-' && isLetter(f[1]) {
			v := w.after(2)
			if g.guarded(&v, dirs) {
				return w.text
			}
		}
		if whole && !strings.HasPrefix(w.front(), "-") && g.holdsRoot(w, dirs) {
			return w.text
		}
		if in("copies", name) {
			l := w.lastPart()
			l.text = fold(l.text)
			if can(&l, "permissions.json") || can(&l, ".git") {
				return w.text
			}
		}
	}
	return ""
}

// cpDeep: an option of cp holds r, R or a.
func cpDeep(ws []word) bool {
	for i := range ws {
		if t := ws[i].text; strings.HasPrefix(t, "-") && strings.ContainsAny(t, "rRa") {
			return true
		}
	}
	return false
}

// pureReader: the segment only reads, as long as it has no effect word.
func (s *segment) pureReader() bool {
	if len(s.flat) == 0 || !s.flat[0].plain() || s.words[0].braced {
		return false
	}
	verb := s.flat[0].text
	switch {
	case verb == "find" || verb == "fd" || verb == "fdfind":
		for _, c := range s.carries {
			if !c.pureReader() {
				return false
			}
		}
	case verb == "git":
		sub := leadOf(s.flat).words + 1
		if sub >= len(s.flat) || !s.flat[sub].plain() || !in("reader-git", s.flat[sub].text) {
			return false
		}
	case !in("reader", verb):
		return false
	}
	return len(s.effectWords()) == 0
}

// guardedPath says whether a path, absolute or relative to the root, names a guarded file.
func guardedPath(p, root string) bool {
	w := literal(p)
	g := newGuard(root)
	dir := root
	if dir == "" {
		dir = "/"
	}
	return g.guarded(&w, []string{dir}) || g.names(g.path(dir, &w))
}
