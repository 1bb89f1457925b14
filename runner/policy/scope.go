package policy

import (
	"sort"
	"strings"
)

// ScopeResult is where a command reaches (section 9).
type ScopeResult string

// The results: unknown neither tightens nor loosens.
const (
	ScopeIn      ScopeResult = "in"
	ScopeOut     ScopeResult = "out"
	ScopeUnknown ScopeResult = "unknown"
)

// maxDirs is how many directories are remembered that a cd may have set, the working directory included.
const maxDirs = 64

// scope judges where the tokens of a command lie.
type scope struct {
	root    string   // clean; empty where unknown
	folders []string // what counts as inside, the root included
	dirs    []string // the directories a cd may have set, in the order of the text
	upto    []int    // of each item: how many of dirs hold for it
	result  ScopeResult
	why     string // what lies outside, without the root's absolute path

	most int                 // of dirs
	form func(string) string // of each of dirs; nil: as it is

	looked int // with form: how many of dirs were looked at
}

// scopeOf applies section 9 to a command.
func (a *analysis) scopeOf(c Context, cwd string) *scope {
	s := &scope{upto: make([]int, len(a.items)), result: ScopeIn, most: maxDirs}
	switch {
	case c.ScopeRoot == "":
		s.result = ScopeUnknown
	case !validRoot(c.ScopeRoot):
		s.out("the scope root is not valid")
	default:
		s.root = cleanPath(trimSlashes(c.ScopeRoot))
		s.folders = append(s.folders, s.root)
		for _, f := range c.AlsoInside {
			clean := cleanPath(trimSlashes(f))
			if validRoot(f) && !systemFolder(clean) && !below(s.root, clean) {
				s.folders = append(s.folders, clean)
			}
		}
	}
	dir := s.root
	if cwd != "" {
		dir = cwd
		if strings.HasPrefix(cwd, "/") {
			dir = cleanPath(cwd)
		} else {
			s.out("the working directory is relative")
		}
		if s.root != "" && !s.inside(dir) {
			s.out("the working directory")
		}
	}
	s.dirs = append(s.dirs, dir)
	s.changes(a)
	for i := range a.items {
		s.item(&a.items[i], i)
	}
	return s
}

// placesOf gives the directories that a command may stand in, each in a form, and no more than most and one: then there
// are more.
func (a *analysis) placesOf(cwd string, most int, form func(string) string) *scope {
	s := &scope{upto: make([]int, len(a.items)), result: ScopeUnknown, most: most, form: form, dirs: []string{form(cleanPath(cwd))}}
	s.changes(a)
	return s
}

func (s *scope) out(why string) {
	if s.result == ScopeIn {
		s.result, s.why = ScopeOut, why
	}
}

func (s *scope) inside(p string) bool {
	for _, f := range s.folders {
		if below(p, f) {
			return true
		}
	}
	return false
}

// change is one cd, pushd or popd.
type change struct {
	at   int // items behind this one see its directory
	loop bool
	seg  *segment
}

// changes finds the directories that cd and kin may set. One in a loop counts for all of the loop.
func (s *scope) changes(a *analysis) {
	var list []change
	for i := range a.items {
		it := &a.items[i]
		if it.unit == nil {
			continue
		}
		for _, seg := range it.unit.readings {
			if seg.is("cd", "pushd", "popd") {
				at := i
				if it.loop >= 0 {
					at = it.loop
				}
				list = append(list, change{at, it.loop >= 0, seg})
			}
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].at < list[j].at })
	next := 0
	for i := range a.items {
		for next < len(list) && list[next].at < i {
			s.change(list[next])
			next++
		}
		s.upto[i] = len(s.dirs)
	}
	for ; next < len(list); next++ {
		s.change(list[next])
	}
}

// change adds the directories of one cd, as seen from every directory before it.
func (s *scope) change(c change) {
	w, ok := cdTarget(c.seg)
	if !ok {
		s.out("a change of directory to a place that is not known")
		return
	}
	if c.loop && !strings.HasPrefix(w.text, "/") && hasDotDot(w.text) {
		s.out("a change of directory upwards in a loop")
	}
	if len(s.dirs) >= s.most {
		s.out("more changes of directory than are remembered")
		s.overflow(w.text)
		return
	}
	if s.looked += len(s.dirs); s.form != nil && s.looked > maxChanges {
		s.dirs = append(s.dirs, make([]string, max(s.most+1-len(s.dirs), 0))...) // more than can be followed
		return
	}
	var made []string
	for _, d := range s.dirs {
		to := joinPath(d, w.text)
		if s.form != nil {
			to = s.form(to)
		}
		made = append(made, to)
		if strings.HasPrefix(w.text, "/") {
			break
		}
	}
	for _, d := range made {
		if listed(s.dirs, d) {
			continue
		}
		if len(s.dirs) >= s.most {
			s.out("more changes of directory than are remembered")
			s.overflow(w.text)
			return
		}
		s.dirs = append(s.dirs, d)
	}
}

// overflow joins a further target to the working directory alone; it is remembered beyond the limit for section 17b.
func (s *scope) overflow(target string) {
	if len(s.dirs) < 16*s.most {
		s.dirs = append(s.dirs, joinPath(s.dirs[0], target))
	}
}

// cdTarget is the operand of cd or pushd; ok is false where it leads to an unknown place.
func cdTarget(seg *segment) (*word, bool) {
	if seg.is("popd") {
		return nil, false
	}
	ws := seg.flat
	i := 1
	for ; i < len(ws); i++ {
		t := ws[i].text
		if !ws[i].known() || len(t) < 2 || t[0] != '-' || isNumber(t[1:]) {
			break
		}
		if t == "--" {
			i++
			break
		}
	}
	if i >= len(ws) {
		return nil, false
	}
	w := &ws[i]
	if !w.plain() || w.text == "-" || w.text == "" || seg.is("pushd") && (w.text[0] == '+' || w.text[0] == '-') {
		return nil, false
	}
	return w, true
}

// item checks the path tokens of one item.
func (s *scope) item(it *item, at int) {
	if s.result != ScopeIn {
		return
	}
	dirs := s.dirs[:s.upto[at]]
	for k := range it.tokens {
		it.tokens[k].each(func(w *word) { s.token(w, dirs) })
	}
	if it.unit == nil {
		return
	}
	for _, seg := range it.unit.readings {
		s.segment(seg, dirs)
	}
}

// segment checks words, verb included, and targets of one segment.
func (s *scope) segment(seg *segment, dirs []string) {
	if seg.outside {
		s.out("what it reads names files elsewhere")
	}
	if lead := leadOf(seg.flat); len(lead.dirs) > 0 {
		dirs = withLead(dirs, lead)
	}
	declares := seg.name() != "" && (in("declares", seg.name()) || seg.is("env"))
	for i := range seg.flat {
		w := &seg.flat[i]
		if len(seg.carried) > i && seg.carried[i] || seg.textWord(i) {
			continue
		}
		if declares && i > 0 {
			if name, _, ok := strings.Cut(w.front(), "="); ok && isName(strings.TrimSuffix(name, "+")) {
				continue
			}
		}
		s.token(w, dirs)
	}
	for i := range seg.operands {
		if w := &seg.operands[i]; !w.open() {
			s.token(w, dirs)
		}
	}
	for i := range seg.targets {
		seg.targets[i].word.each(func(w *word) { s.token(w, dirs) })
	}
}

// withLead adds the directories of git's lead, seen from each of dirs.
func withLead(dirs []string, lead gitLead) []string {
	out := append([]string{}, dirs...)
	for _, d := range dirs {
		for _, l := range lead.dirs {
			if !l.known() {
				continue
			}
			d = joinPath(d, l.text)
			if len(out) < 4*maxDirs {
				out = append(out, d)
			}
		}
	}
	return out
}

// token checks one word.
func (s *scope) token(w *word, dirs []string) {
	switch {
	case s.result != ScopeIn:
		return
	case w.outside:
		s.out("a file that may lie anywhere")
		return
	case w.pipe:
		return
	case w.plain():
		switch w.text {
		case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr":
			return
		}
	case w.open():
		s.out("a path that is not known: " + w.text)
		return
	case w.isTilde():
		s.out("a folder elsewhere: " + w.text)
		return
	}
	t := w.text
	if w.isGlob() {
		t = globPath(w)
	}
	switch {
	case strings.HasPrefix(t, "/"):
		if !s.inside(cleanPath(t)) {
			s.out("the path " + s.relative(w.text))
		}
	case hasDotDot(t):
		for _, d := range dirs {
			if !s.inside(joinPath(d, t)) {
				s.out("the path " + w.text)
				return
			}
		}
	}
}

// relative hides the root's absolute path.
func (s *scope) relative(t string) string {
	if s.root != "" {
		t = strings.ReplaceAll(t, s.root, "<scope>")
	}
	if len(t) > 200 {
		t = t[:200] + "…"
	}
	return t
}

// globPath is a glob's text in which a component that begins with a dot and can match ".." is "..".
func globPath(w *word) string {
	comps := components(w)
	parts := make([]string, len(comps))
	for i, c := range comps {
		cw := makeWord(c)
		parts[i] = cw.text
		if cw.isGlob() && strings.HasPrefix(cw.text, ".") && cw.canBe("..") {
			parts[i] = ".."
		}
	}
	return strings.Join(parts, "/")
}

// components splits a word at its slashes; an absolute path has an empty first component.
func components(w *word) [][]piece {
	out := [][]piece{nil}
	for _, p := range w.pieces {
		if p.kind != fixed && p.kind != param && p.kind != numeric && p.kind != found {
			out[len(out)-1] = append(out[len(out)-1], p)
			continue
		}
		rest := p.text
		for {
			n := strings.IndexByte(rest, '/')
			part := rest
			if n >= 0 {
				part = rest[:n]
			}
			if part != "" {
				q := p
				q.text = part
				out[len(out)-1] = append(out[len(out)-1], q)
			}
			if n < 0 {
				break
			}
			out = append(out, nil)
			rest = rest[n+1:]
		}
	}
	return out
}
