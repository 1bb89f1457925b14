package policy

import (
	"path"
	"strings"
)

// Protected is what belongs to the judge, and what the judged may therefore neither call nor name.
type Protected struct {
	// Programs are the names of our program; Commands those of its subcommands that steer it.
	Programs, Commands []string
	// Folders are absolute. A command that names one, something in it, or, to change it, a folder around it, is found;
	// reading included.
	Folders []string
	// Files are base names, in whatever folder.
	Files []string
	// Variables are values that the text may use by name, HOME among them, which is also what a tilde stands for.
	Variables map[string]string
}

// Steers gives what a command touches of the protected, as a clause for a person; "" where it touches nothing. The
// command is read with its wrappers, its quotes and its changes of directory resolved; what hides in the output of a
// program, in a value from outside or behind a link is not seen.
func (r *Recheck) Steers(p Protected) string {
	if call := r.cmd.calls(p, r.text); call != "" {
		if call == tooMany {
			return "it holds " + tooMany + "; send it in smaller parts"
		}
		return "it calls `" + call + "`, which decides about it"
	}
	s := shield{Protected: p, folders: make([][]string, len(p.Folders))}
	for i, f := range p.Folders {
		s.folders[i] = split(f)
	}
	s.learn(r.cmd)
	s.spelled = s.spellings()
	hit := s.command(r.cmd.analysis, r.cwd)
	if hit == "" {
		hit = s.text(r.text) // in a comment, or in what could not be read
	}
	switch hit {
	case "":
		return ""
	case tooMuch:
		return "it leads to " + tooMuch + "; send it in smaller parts"
	}
	return "it names " + r.cmd.scope.relative(hit) + ", which decides about it"
}

// SteersPath is Steers for the path of a file that an action writes or reads without a shell.
func (p Protected) SteersPath(file string) bool {
	file = fold(cleanPath(file))
	for _, f := range p.Folders {
		if below(file, fold(cleanPath(f))) {
			return true
		}
	}
	for _, f := range p.Files {
		if path.Base(file) == fold(f) {
			return true
		}
	}
	return false
}

// shield looks for what a command names.
type shield struct {
	Protected
	folders [][]string // the components of Folders, folded
	spelled []string   // see spellings
	looked  int        // how many components were looked at
}

// Bounds of the search, beyond which a command is refused: no command that a person reads comes near them.
const (
	maxPlaces = 256
	maxLooks  = 1 << 20
	// maxChanges is how often all changes of folder together may look at a folder that an earlier one has led to.
	maxChanges = 1 << 18
	tooMuch    = "more folders than can be followed"
	tooMany    = "more variables with this program's name than can be followed"
)

// seenFrom is a folder that a word may be seen from.
type seenFrom struct {
	dir   string
	holds bool // a protected folder lies somewhere in it
}

// command gives the word that names something protected, or a text in which it is written.
func (s *shield) command(a *analysis, cwd string) string {
	resolved := &analysis{items: make([]item, len(a.items))}
	for i, it := range a.items {
		resolved.items[i] = s.item(it)
	}
	at := resolved.placesOf(cwd, maxPlaces, s.placed)
	if len(at.dirs) > maxPlaces {
		return tooMuch
	}
	hit := ""
	places := make([]seenFrom, len(at.dirs))
	for i, d := range at.dirs {
		if s.inside(s.path("", d)) {
			return d
		}
		places[i] = seenFrom{d, s.holds(d)}
	}
	for i := range resolved.items {
		it, dirs := &resolved.items[i], places[:max(at.upto[i], 1)]
		look := func(ws []word) {
			for k := range ws {
				ws[k].each(func(w *word) {
					if hit == "" {
						hit = s.word(w, dirs)
					}
				})
			}
		}
		look(it.tokens)
		look(it.writes)
		if it.unit != nil {
			for k, seg := range it.unit.readings {
				s.segment(seg, look)
				if hit == "" {
					hit = s.around(seg, a.items[i].unit.readings[k], dirs)
				}
			}
		}
		if hit == "" && s.looked > maxLooks {
			hit = tooMuch
		}
		if hit != "" {
			return hit
		}
	}
	return ""
}

// segment shows every word of a segment.
func (s *shield) segment(seg *segment, look func([]word)) {
	look(seg.flat)
	look(seg.operands)
	for k := range seg.targets {
		look([]word{seg.targets[k].word})
	}
	for k := range seg.assigns {
		look([]word{seg.assigns[k].value})
	}
	if seg.stdin != nil {
		look([]word{*seg.stdin})
	}
	for k := range seg.tails {
		look(seg.tails[k].seg.flat)
	}
}

// item is it with its tildes and variables resolved, so that a cd to them is followed.
func (s *shield) item(it item) item {
	it.tokens, it.writes = s.words(it.tokens), s.words(it.writes)
	if it.unit == nil {
		return it
	}
	u := &unit{written: it.unit.written}
	for _, seg := range it.unit.readings {
		c := *seg
		c.tails = nil
		for i := range seg.tails { // most are words of the segment itself, which are looked at once
			if !sameWords(seg.flat, seg.tails[i].seg.flat) {
				c.tails = append(c.tails, seg.tails[i])
			}
		}
		c.flat, c.operands = s.words(seg.flat), s.words(seg.operands)
		if home := s.Variables["HOME"]; home != "" && seg.is("cd") && !hasOperand(c.flat) {
			c.flat = append(c.flat, literal(home)) // where a bare cd leads
		}
		c.targets = append([]target(nil), seg.targets...)
		for i := range c.targets {
			c.targets[i].word = s.resolve(c.targets[i].word)
		}
		c.assigns = append([]assign(nil), seg.assigns...)
		for i := range c.assigns {
			c.assigns[i].value = s.resolve(c.assigns[i].value)
		}
		u.readings = append(u.readings, &c)
	}
	u.stands, it.unit = u.readings[0], u
	return it
}

// hasOperand tells whether a cd is told where to go, or may be.
func hasOperand(ws []word) bool {
	for _, w := range ws[min(1, len(ws)):] {
		if t := w.text; !w.known() || len(t) < 2 || t[0] != '-' || isNumber(t[1:]) {
			return true
		}
	}
	return false
}

// sameWords: b is a part of a, not a copy.
func sameWords(a, b []word) bool {
	return cap(a) > 0 && cap(b) > 0 && &a[:cap(a)][cap(a)-1] == &b[:cap(b)][cap(b)-1]
}

func (s *shield) words(ws []word) []word {
	out := make([]word, len(ws))
	for i := range ws {
		out[i] = s.resolve(ws[i])
	}
	return out
}

// resolve puts values in the place of a tilde and of the variables that are known.
func (s *shield) resolve(w word) word {
	if w.braced {
		w.alts = s.words(w.alts)
		return w
	}
	if !w.isTilde() && !w.open() || w.tail {
		return w
	}
	pieces := append([]piece(nil), w.pieces...)
	for i := range pieces {
		p := &pieces[i]
		value := ""
		switch p.kind {
		case home:
			value = s.home(pieces[i+1:])
		case param:
			value = s.Variables[strings.TrimPrefix(p.text, "$")]
		case opaque: // ${NAME…}, which may be the value
			name, _, _ := strings.Cut(strings.TrimPrefix(p.text, "${"), "…")
			value = s.Variables[name]
		}
		if value != "" {
			*p = piece{kind: fixed, text: value, quoted: true}
		}
	}
	return makeWord(pieces)
}

// home is what a tilde with these pieces behind it stands for; "" for somebody else's home.
func (s *shield) home(behind []piece) string {
	if len(behind) == 0 || strings.HasPrefix(behind[0].text, "/") {
		return s.Variables["HOME"]
	}
	if behind[0].kind != fixed {
		return ""
	}
	name, rest, _ := strings.Cut(behind[0].text, "/")
	if v := s.Variables["HOME"]; v != "" && name == path.Base(v) {
		behind[0].text = "/" + rest
		return v
	}
	return ""
}
