package policy

import (
	"strings"
	"unicode/utf8"
)

// check finds what makes a segment unresolved by itself (section 17, class by class).
func (a *analysis) check(s *segment) {
	a.checkAssigns(s)
	v := s.verb()
	if v == nil {
		return
	}
	if why := verbIssue(v); why != "" {
		s.issue(why)
	}
	name := s.name()
	if len(s.flat) == 0 || name == "" {
		return
	}
	ws := s.flat[1:]
	switch {
	case in("always", name):
		s.issue(name + " loads, renames or runs")
	case name == "hash" && clusterHolds(ws, 'p'),
		name == "jobs" && clusterHolds(ws, 'x'),
		(name == "mapfile" || name == "readarray") && clusterHolds(ws, 'C'):
		s.issue(name + " loads, renames or runs")
	case name == "set":
		checkSet(s, ws)
	}
	switch {
	case in("names", name):
		checkNames(s, ws)
	case name == "wait" && clusterHolds(ws, 'p'):
		checkNames(s, ws)
	case name == "printf":
		checkPrintf(s, ws)
	case in("declares", name):
		checkDeclares(s, ws)
	case name == "test" || name == "[":
		checkTest(s, ws)
	case name == "let":
		for i := range ws {
			if !ws[i].known() || strings.IndexFunc(ws[i].text, func(r rune) bool { return r == '_' || isLetter(byte(r)) && r < 128 }) >= 0 {
				s.issue("arithmetic that names a variable")
			}
		}
	}
}

// verbIssue says why a verb can't be taken for what it says; empty where it can.
func verbIssue(v *word) string {
	switch {
	case v.braced:
		return "braces in the verb"
	case v.loop:
		return "a parameter as the verb"
	case v.isParam() || v.isNumber():
		return "a parameter as the verb"
	case v.isOpaque():
		return "an output as the verb"
	case v.isGlob():
		return "a glob as the verb"
	case v.isTilde():
		return "a tilde in the verb"
	case v.isFound():
		return "a file as the verb"
	case strings.HasPrefix(v.text, "="):
		return "a verb that begins with ="
	}
	for i := range len(v.text) {
		if v.text[i] >= utf8.RuneSelf {
			return "a character outside ASCII in the verb"
		}
	}
	return ""
}

func (a *analysis) checkAssigns(s *segment) {
	steering := 0
	for i := range s.assigns {
		as := &s.assigns[i]
		value := &as.value
		if !as.plain {
			value = nil
		}
		if steersWith(as.name, value) {
			steering++
		}
	}
	if steering == 0 {
		return
	}
	if steering == 1 && len(s.words) > 0 && s.words[0].plain() && s.words[0].text == "read" {
		for i := range s.assigns {
			if as := &s.assigns[i]; as.name == "IFS" && as.plain && as.value.known() {
				return // it holds for that builtin alone
			}
		}
	}
	s.issue("a name that decides what a verb means")
}

// clusterHolds: a word of options holds the letter, or what stands there is not known.
func clusterHolds(ws []word, letter byte) bool {
	for i := range ws {
		t := ws[i].text
		if len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.IndexByte(t, letter) > 0 {
			return true
		}
		if !ws[i].known() && ws[i].front() == "" && letter != 'p' {
			return true
		}
	}
	return false
}

// checkSet: options other than these change $1 or how text is read.
func checkSet(s *segment, ws []word) {
	for i := 0; i < len(ws); i++ {
		t := ws[i].text
		ok := ws[i].plain() && len(t) > 1 && (t[0] == '-' || t[0] == '+')
		if ok {
			letters := t[1:]
			if strings.HasSuffix(letters, "o") {
				letters = letters[:len(letters)-1]
				i++
				ok = i < len(ws) && ws[i].plain() && ws[i].text == "pipefail"
			}
			ok = ok && strings.Trim(letters, "eux") == ""
		}
		if !ok {
			s.issue("set changes how text is read")
			return
		}
	}
}

// checkNames looks at the words of a builtin that gives names values.
func checkNames(s *segment, ws []word) {
	for i := range ws {
		w := &ws[i]
		switch {
		case !w.known():
			s.issue("a name that is not known")
		case hasByte(w.text, '['):
			s.issue("a name whose subscript Bash evaluates")
		case steersAnywhere(w.text):
			s.issue("a name that decides what a verb means")
		}
	}
}

// steersAnywhere: the word is such a name, or an option with one glued to it.
func steersAnywhere(t string) bool {
	if !strings.HasPrefix(t, "-") {
		return steers(t)
	}
	for i := range min(len(t), 64) {
		if steers(t[i:]) {
			return true
		}
	}
	return false
}

func checkPrintf(s *segment, ws []word) {
	i := 0
	for ; i < len(ws); i++ {
		if !ws[i].known() {
			s.issue("a format that is not known")
			return
		}
		t := ws[i].text
		switch {
		case t == "-v":
			if i++; i < len(ws) {
				checkNames(s, ws[i:i+1])
			}
			continue
		case strings.HasPrefix(t, "-v"):
			checkNames(s, ws[i:i+1])
			continue
		case t == "--":
			i++
		}
		break
	}
	if i >= len(ws) {
		return
	}
	if !ws[i].known() {
		s.issue("a format that is not known")
		return
	}
	if formatAssigns(ws[i].text) {
		s.issue("a format that assigns")
	}
}

// formatAssigns: a conversion of the format ends in n.
func formatAssigns(f string) bool {
	for i := 0; i < len(f); i++ {
		if f[i] != '%' {
			continue
		}
		i++
		for i < len(f) && strings.IndexByte("#0- +'123456789*.hlLjztq", f[i]) >= 0 && f[i] != 'q' {
			i++
		}
		if i < len(f) && f[i] == 'n' {
			return true
		}
	}
	return false
}

func checkDeclares(s *segment, ws []word) {
	changes := clusterHolds(ws, 'l') || clusterHolds(ws, 'u')
	for i := range ws {
		w := &ws[i]
		front := w.front()
		if strings.HasPrefix(front, "-") || strings.HasPrefix(front, "+") {
			if !w.known() || front != "--" && strings.Trim(front[1:], "xrgpfFlu") != "" {
				s.issue("an option of a declaration that is not read")
			}
			continue
		}
		name, _, isAssign := strings.Cut(front, "=")
		if !isAssign {
			switch {
			case !w.known():
				s.issue("a name that is not known")
			case hasByte(w.text, '['):
				s.issue("a name whose subscript Bash evaluates")
			case steers(w.text):
				s.issue("a name that decides what a verb means")
			}
			continue
		}
		value := w.after(len(name) + 1)
		switch {
		case w.loose:
			s.issue("a value that may be several words")
		case hasByte(name, '['):
			s.issue("a name whose subscript Bash evaluates")
		case steersDeclared(s.name(), name, &value, changes), strings.HasSuffix(name, "+") && steers(strings.TrimSuffix(name, "+")):
			s.issue("a name that decides what a verb means")
		}
	}
}

// steersDeclared is steersWith for a declaration: only export gives a value plainly, and -l and -u change it.
func steersDeclared(verb, name string, value *word, changes bool) bool {
	if changes || verb != "export" && name != "LANG" && !strings.HasPrefix(name, "LC_") {
		value = nil
	}
	return steersWith(name, value)
}

func checkTest(s *segment, ws []word) {
	for i := range ws {
		w := &ws[i]
		if w.loose {
			s.issue("a word of a test that may be several")
			return
		}
		if i == 0 {
			continue
		}
		before := &ws[i-1]
		if !before.known() || before.text == "-v" || before.text == "-R" {
			if !w.known() || hasByte(w.text, '[') {
				s.issue("a name whose subscript Bash evaluates")
			}
		}
	}
}

// checkSource: FILE must be named, and nothing in the same command may write it.
func (a *analysis) checkSource() {
	for _, u := range a.units() {
		for _, s := range u.readings {
			if !s.is("source", ".") {
				continue
			}
			a.opaqueNames = true
			if !a.sourceNamed(s) {
				s.issue("a file that is read as a program and not named plainly")
			}
		}
	}
}

func (a *analysis) sourceNamed(s *segment) bool {
	if len(s.words) != 2 || len(s.flat) != 2 {
		return false
	}
	w := &s.words[1]
	if !w.plain() || !hasByte(w.text, '/') || w.text[0] == '-' || specialFile(w.text) {
		return false
	}
	last := lastPart(w.text)
	same := func(o *word) bool {
		found := false
		o.each(func(x *word) {
			l := x.lastPart()
			found = found || x.text != "" && (l.text == last || !x.known() && l.canBe(last))
		})
		return found
	}
	for i := range a.items {
		it := &a.items[i]
		for k := range it.writes {
			if same(&it.writes[k]) {
				return false
			}
		}
		if it.unit == nil {
			continue
		}
		for _, o := range it.unit.readings {
			for k := range o.targets {
				if o.targets[k].writes && same(&o.targets[k].word) {
					return false
				}
			}
			if o == s {
				continue
			}
			for k := range o.words {
				if same(&o.words[k]) {
					return false
				}
			}
		}
	}
	return true
}

// giveByBuiltins notes the names that builtins give values, and whether one of them is not known.
func (a *analysis) giveByBuiltins() {
	for _, u := range a.units() {
		s := u.stands
		name := s.name()
		if len(s.flat) < 2 || name == "" {
			continue
		}
		ws := s.flat[1:]
		switch {
		case in("names", name), name == "wait" && clusterHolds(ws, 'p'):
		case in("declares", name), name == "let":
		case name == "printf":
			if f := ws[0].front(); ws[0].known() && !strings.HasPrefix(f, "-v") {
				continue
			}
			ws = ws[:min(2, len(ws))]
		default:
			continue
		}
		for i := range ws {
			f := ws[i].front()
			n := strings.IndexAny(f, "=+[")
			if n < 0 && !ws[i].known() {
				a.unknownName = true
				continue
			}
			if n >= 0 {
				f = f[:n]
			}
			a.give(f, byOther)
			if strings.HasPrefix(f, "-") {
				for k := 1; k < min(len(f), 64); k++ {
					a.give(f[k:], byOther)
				}
			}
		}
	}
}
