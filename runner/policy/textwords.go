package policy

import "strings"

// textWord: the word at index i of flat stands where nothing opens it as a file (section 9). The list is closed.
func (s *segment) textWord(i int) bool {
	if i >= len(s.flat) {
		return false
	}
	if s.flat[i].pipe {
		return true
	}
	if s.texts == nil {
		s.texts = make([]bool, len(s.flat))
		s.findTexts()
	}
	if !s.texts[i] {
		return false
	}
	switch s.flat[0].text {
	case "awk", "gawk", "mawk", "nawk", "jq":
		return len(s.effectWords()) == 0
	}
	return true
}

// findTexts takes the verb as written.
func (s *segment) findTexts() {
	ws := s.flat
	if len(ws) == 0 || !ws[0].plain() || len(s.words) == 0 || s.words[0].braced {
		return
	}
	verb := ws[0].text
	switch {
	case in("echo", verb):
		for i := 1; i < len(ws); i++ {
			s.texts[i] = !ws[i].isGlob()
		}
	case verb == "test" || verb == "[":
		for i := 1; i < len(ws); i++ {
			s.texts[i] = ws[i].open() && !ws[i].loose
		}
	case verb == "git" && len(ws) > 1 && ws[1].plain():
		switch {
		case ws[1].text == "commit" || ws[1].text == "tag":
			s.messages(2)
		case ws[1].text == "stash" && len(ws) > 2 && ws[2].plain() && ws[2].text == "push":
			s.messages(3)
		case ws[1].text == "grep":
			s.searchWords("grep", 2)
		}
	case in("search", verb):
		s.searchWords(verb, 1)
	case in("awk", verb):
		for i := range s.words {
			if s.words[i].braced {
				return
			}
		}
		if i := s.awkProgram(); i > 0 && ws[i].known() && !ws[i].isTilde() {
			s.texts[i] = true
		}
	}
}

// messages marks the messages of git commit and kin.
func (s *segment) messages(from int) {
	for i := from; i < len(s.flat); i++ {
		w := &s.flat[i]
		if w.plain() {
			switch w.text {
			case "-m", "-am", "--message":
				if i+1 < len(s.flat) && !s.flat[i+1].loose && !s.flat[i+1].tail {
					s.texts[i+1] = true
				}
				i++
				continue
			}
		}
		if f := w.front(); !w.loose && (strings.HasPrefix(f, "-m") || strings.HasPrefix(f, "--message=")) {
			s.texts[i] = true
		}
	}
}

// search reads the options of grep and kin, to find their search words.
type search struct {
	s      *segment
	verb   string
	values []int
	first  int // the first operand
	behind int // the index of a lone --, or the number of words
}

func (s *segment) searchWords(verb string, from int) {
	ws := s.flat
	for i := range s.words {
		if s.words[i].braced || s.words[i].tail {
			return
		}
	}
	f := search{s: s, verb: verb, behind: len(ws)}
	if !f.read(from) {
		return
	}
	marked := f.values
	if len(marked) == 0 && f.first > 0 {
		marked = []int{f.first}
	}
	for _, i := range marked {
		w := &ws[i]
		switch {
		case w.isTilde():
		case verb == "sed":
			s.texts[i] = w.known() && sedHarmless(f.script(i))
		case verb == "jq":
			s.texts[i] = w.known()
		case w.known():
			s.texts[i] = true
		case !w.isGlob() && !w.loose:
			fr := w.front()
			s.texts[i] = len(f.values) > 0 || i > f.behind || fr != "" && fr[0] != '-'
		}
	}
}

// script is a value of sed without the option glued in front.
func (f *search) script(i int) string {
	t := f.s.flat[i].text
	if !listedInt(f.values, i) {
		return t
	}
	if strings.HasPrefix(t, "--expression=") {
		return t[len("--expression="):]
	}
	if i > 0 && len(t) > 1 && t[0] == '-' && !f.optionBefore(i) {
		if n := strings.IndexByte(t, 'e'); n > 0 {
			return t[n+1:]
		}
	}
	return t
}

func (f *search) optionBefore(i int) bool {
	t := f.s.flat[i-1].text
	return t == "--expression" || len(t) > 1 && t[0] == '-' && t[1] != '-' && t[len(t)-1] == 'e'
}

func listedInt(l []int, n int) bool {
	for _, x := range l {
		if x == n {
			return true
		}
	}
	return false
}

// read is false where a word is or may be an option that is not read.
func (f *search) read(i int) bool {
	ws := f.s.flat
	for ; i < len(ws); i++ {
		w := &ws[i]
		t := w.front()
		if w.plain() && w.text == "--" {
			f.behind = i
			if f.first == 0 && i+1 < len(ws) {
				f.first = i + 1
			}
			return true
		}
		if !dashy(w) {
			if f.first == 0 {
				f.first = i
			}
			continue
		}
		if w.known() && w.text == "-" {
			if f.first == 0 {
				f.first = i
			}
			continue
		}
		var n int
		var ok bool
		if strings.HasPrefix(t, "--") {
			n, ok = f.long(i)
		} else {
			n, ok = f.cluster(i)
		}
		if !ok {
			return false
		}
		i += n
	}
	return true
}

// dashy: the word begins or can begin with a dash.
func dashy(w *word) bool {
	if f := w.front(); f != "" {
		return f[0] == '-'
	}
	for i := range w.pieces {
		p := &w.pieces[i]
		switch {
		case p.kind == fixed && p.text == "":
		case p.kind == found && p.quoted:
			return false
		case p.kind == numeric || p.kind == home:
			return false
		default:
			return p.kind != fixed
		}
	}
	return w.tail
}

// long reads one long option; n is how many further words it takes.
func (f *search) long(i int) (n int, ok bool) {
	w := &f.s.flat[i]
	value := "--regexp"
	if f.verb == "sed" {
		value = "--expression"
	}
	if f.verb != "jq" {
		if w.known() && w.text == value {
			if i+1 >= len(f.s.flat) {
				return 0, false
			}
			f.values = append(f.values, i+1)
			return 1, true
		}
		if strings.HasPrefix(w.front(), value+"=") {
			f.values = append(f.values, i)
			return 0, true
		}
	}
	if !w.known() || w.isFound() {
		return 0, false
	}
	for _, p := range []string{"--include=", "--exclude=", "--exclude-dir=", "--color=", "--glob=", "--type="} {
		if strings.HasPrefix(w.text, p) {
			return 0, true
		}
	}
	switch w.text {
	case "--ignore-case", "--line-number", "--recursive", "--fixed-strings", "--extended-regexp", "--perl-regexp",
		"--word-regexp", "--invert-match", "--count", "--only-matching", "--files-with-matches", "--no-messages",
		"--hidden", "--no-ignore", "--no-heading", "--quiet", "--silent", "--in-place", "--regexp-extended",
		"--null-data", "--raw-output", "--compact-output", "--slurp", "--null-input", "--exit-status":
		return 0, true
	}
	return 0, false
}

// cluster reads a word of short options.
func (f *search) cluster(i int) (n int, ok bool) {
	ws := f.s.flat
	w := &ws[i]
	t := w.front()
	bad := "DOXdf"
	switch f.verb {
	case "rg":
		bad = "EMdfjr"
	case "sed":
		bad = "fl"
	case "jq":
		bad = "Lf"
	}
	greps := f.verb != "sed" && f.verb != "jq"
	for k := 1; k < len(t); k++ {
		c := t[k]
		rest := t[k+1:]
		last := k == len(t)-1 && w.known()
		switch {
		case c == 'e' && f.verb != "jq":
			if !last {
				f.values = append(f.values, i)
				return 0, true
			}
			if i+1 >= len(ws) {
				return 0, false
			}
			f.values = append(f.values, i+1)
			return 1, true
		case c == 'i' && f.verb == "sed" && !last:
			return 0, w.known()
		case greps && strings.IndexByte("ABCm", c) >= 0:
			if !w.known() {
				return 0, false
			}
			if rest != "" {
				if isNumber(rest) {
					return 0, true
				}
				if c == 'C' && f.verb != "rg" {
					continue
				}
				return 0, false
			}
			if c == 'C' && f.verb != "rg" {
				return 0, true
			}
			if i+1 < len(ws) && ws[i+1].plain() && isNumber(ws[i+1].text) {
				return 1, true
			}
			return 0, false
		case f.verb == "rg" && strings.IndexByte("gtT", c) >= 0:
			if rest != "" {
				return 0, w.known()
			}
			if i+1 < len(ws) && ws[i+1].known() && !strings.HasPrefix(ws[i+1].text, "-") {
				return 1, w.known()
			}
			return 0, false
		case strings.IndexByte(bad, c) >= 0 || !isLetter(c) && !isDigit(c):
			return 0, false
		}
	}
	return 0, w.known() && !w.isFound()
}
