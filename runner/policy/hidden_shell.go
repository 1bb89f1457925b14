package policy

import "strings"

// shell reads sh and kin: the text behind -c, or a script file.
func (a *analysis) shell(s *segment, name string, depth int) []item {
	ws := s.flat
	if len(ws) == 2 && ws[1].known() && (ws[1].text == "--version" || ws[1].text == "--help") {
		return nil
	}
	program, throughOptions := false, true
	i := 1
options:
	for ; i < len(ws); i++ {
		t := ws[i].front()
		if !ws[i].known() {
			if t == "" || t[0] == '-' || t[0] == '+' {
				a.unread(s, "an option of "+name+" that is not known", depth)
				a.unknownTexts(s, i, depth)
				return nil
			}
			break
		}
		switch {
		case t == "--":
			throughOptions = false
			i++
			break options
		case t == "-":
			break options
		case len(t) > 1 && t[0] == '-' && t[1] != '-':
			ok, c, o := shellCluster(t[1:], name)
			if !ok {
				a.unread(s, "an option of "+name+" that is not read", depth)
				return nil
			}
			// For "carried through", -c comes last, directly in front of the text.
			if program || strings.ContainsAny(t, "inv") || c && t[len(t)-1] != 'c' {
				throughOptions = false
			}
			if o {
				if i+1 >= len(ws) || !ws[i+1].known() || ws[i+1].text != "pipefail" {
					a.unread(s, "an option of "+name+" that is not read", depth)
					return nil
				}
				i++
				if c {
					throughOptions = false
				}
			}
			program = program || c
		case len(t) > 1 && (t[0] == '-' || t[0] == '+'):
			a.unread(s, "an option of "+name+" that is not read", depth)
			return nil
		default:
			break options
		}
	}
	if !program {
		a.script(s, name, i, depth)
		return nil
	}
	s.wrapper = true
	if anyOpaque(ws) {
		s.issue("an output among the words of a shell")
	}
	if i >= len(ws) {
		s.issue("a shell without its program text")
		return nil
	}
	return a.commandText(s, name, i, throughOptions, depth)
}

// shellCluster reads one word of options: c asks for a program text, o stands last and takes the next word.
func shellCluster(letters, name string) (ok, c, o bool) {
	allowed := "cleuxi"
	if name == "sh" || name == "bash" || name == "dash" {
		allowed += "nv"
	}
	for k := range len(letters) {
		switch l := letters[k]; {
		case l == 'o' && len(allowed) > 6 && k == len(letters)-1:
			o = true
		case strings.IndexByte(allowed, l) < 0:
			return false, c, o
		case l == 'c':
			c = true
		}
	}
	return true, c, o
}

// commandText reads the program text of a shell's -c at index i.
func (a *analysis) commandText(s *segment, name string, i int, throughOptions bool, depth int) []item {
	w := &s.flat[i]
	if !w.known() || w.isFound() {
		s.issue("a program text that is not known")
		a.visible(s, w, tail{privilege: true}, depth)
		a.texts(s, s.flat[i+1:], tail{privilege: true}, depth, true)
		return nil
	}
	if in("shell-sh", name) && !PlainPOSIX(w.text) {
		s.issue("a text for " + name + " that is not plain POSIX, so that shells read it differently")
	}
	if name == "ksh" || name == "zsh" {
		s.issue("a text for " + name + ", which reads it differently from Bash")
	}
	if in("shell-sh", name) {
		a.plainEval++
		defer func() { a.plainEval-- }()
	}
	items := a.follow(s, w.text, depth)
	s.carried = make([]bool, len(s.flat))
	s.carried[i] = true
	s.through = throughOptions && !anyBraced(s.words) && i == len(s.flat)-1 && s.words[0].plain() && s.words[0].text == name &&
		(name == "sh" || name == "bash" || name == "dash")
	holds := false
	for _, it := range items {
		holds = holds || it.unit != nil
	}
	for k := range s.assigns {
		s.through = s.through && s.assigns[k].harmless()
	}
	s.through = s.through && holds
	return items
}

// script reads a shell without -c: a file, or a program that comes from elsewhere.
func (a *analysis) script(s *segment, name string, i, depth int) {
	ws := s.flat
	if i >= len(ws) || ws[i].text == "-" || s.stdin != nil {
		s.wrapper = true
		s.issue("a shell whose program comes from elsewhere")
		a.input(s, depth)
		return
	}
	w := &ws[i]
	switch {
	case !w.known() || w.braced:
		a.unread(s, "a script that is not known", depth)
	case specialFile(w.text):
		s.issue("a script from a device")
	}
}

// unknownTexts reads what is visible of the words from index i that are not known: one of them may be the program text.
func (a *analysis) unknownTexts(s *segment, i, depth int) {
	for ; i < len(s.flat); i++ {
		if !s.flat[i].known() {
			a.visible(s, &s.flat[i], tail{privilege: true}, depth)
		}
	}
}

// input is a text that is handed to shells, as the word that stands there or as its text, and the weight of what is
// found in it.
type input struct {
	word   *word
	text   string
	weight uint8
}

// input reads what is handed to a shell, by its own redirection or by that of a group or program text around it. Each
// text is read once: the shells in it are handed the same texts again, and find nothing in them that is not found here.
func (a *analysis) input(s *segment, depth int) {
	words := a.groupInput
	if s.stdin != nil {
		words = append([]*word{s.stdin}, words...)
	}
	for _, w := range words {
		if a.wasRead(input{word: w, weight: a.weight}, depth) {
			continue
		}
		text, _ := programOf(w, "${x}")
		if !a.wasRead(input{text: text, weight: a.weight}, depth) {
			a.visible(s, w, tail{privilege: true}, depth)
		}
	}
}

// wasRead says whether an input was read before, no deeper than now, and notes it.
func (a *analysis) wasRead(in input, depth int) bool {
	if least, read := a.inputs[in]; read && least <= depth {
		return true
	}
	a.inputs[in] = depth
	return false
}

// specialFile: in /dev or /proc, where a file's content is somebody else's.
func specialFile(p string) bool {
	p = cleanPath(p)
	for _, d := range []string{"/dev", "/proc"} {
		if p == d || strings.HasPrefix(p, d+"/") {
			return true
		}
	}
	return hasDotDot(p) && (strings.Contains(p, "/dev") || strings.Contains(p, "/proc"))
}

// otherShell reads fish and kin, whose language is not read: only a script file will do.
func (a *analysis) otherShell(s *segment, name string, depth int) {
	if s.stdin != nil {
		a.visible(s, s.stdin, tail{privilege: true}, depth)
	}
	if len(s.flat) > 1 {
		w := &s.flat[1]
		if w.known() && w.text != "" && w.text[0] != '-' && !specialFile(w.text) && s.stdin == nil {
			return
		}
	}
	a.unread(s, name+" reads a language of its own", depth)
}

// eval joins its words and reads them again.
func (a *analysis) eval(s *segment, depth int) []item {
	a.opaqueNames = true
	s.wrapper = true
	ws := s.flat[1:]
	if len(ws) > 0 && ws[0].known() && ws[0].text == "--" {
		ws = ws[1:]
	}
	known := true
	for i := range ws {
		known = known && ws[i].known() && !ws[i].isFound()
	}
	if !known {
		s.issue("a word of eval that is not known")
		var ps []piece
		for i := range ws {
			if i > 0 {
				ps = append(ps, piece{kind: fixed, text: " "})
			}
			if ws[i].tail {
				ps = append(ps, piece{kind: opaque, many: true})
			}
			ps = append(ps, ws[i].pieces...)
		}
		joined := makeWord(ps)
		a.visible(s, &joined, tail{privilege: true}, depth)
		return nil
	}
	parts := make([]string, len(ws))
	for i := range ws {
		parts[i] = ws[i].text
	}
	text := strings.Join(parts, " ")
	if a.plainEval > 0 && !PlainPOSIX(text) {
		s.issue("a text for eval that is not plain POSIX, so that shells read it differently")
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	s.carried = make([]bool, len(s.flat))
	for i := 1; i < len(s.carried); i++ {
		s.carried[i] = true
	}
	return a.follow(s, text, depth)
}

// stored reads what alias and trap keep for later.
func (a *analysis) stored(s *segment, name string, depth int) []item {
	a.opaqueNames = true
	s.wrapper = true
	s.issue(name + " keeps a program for later")
	var out []item
	for i := 1; i < len(s.flat); i++ {
		w := &s.flat[i]
		v := *w
		if name == "alias" {
			n := strings.IndexByte(w.front(), '=')
			if n < 0 {
				continue
			}
			v = w.after(n + 1)
		} else if strings.HasPrefix(w.text, "-") {
			continue
		}
		if v.known() {
			out = append(out, a.follow(s, v.text, depth)...)
		} else {
			a.visible(s, &v, tail{privilege: true}, depth)
		}
		if name == "trap" {
			break
		}
	}
	return out
}
