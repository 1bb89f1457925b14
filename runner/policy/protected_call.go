package policy

import "strings"

// maxAliases is how many names are followed that a text gives this program.
const maxAliases = 16

// calls gives a call of one of the programs with one of the commands, as far as text, which is c as written, shows it; ""
// without one.
func (c *command) calls(p Protected, text string) string {
	programs := c.programs(p)
	if len(programs) > len(p.Programs)+maxAliases {
		return tooMany
	}
	call, spelled := "", spelling{p}
	_, unresolved := c.ceilingUnresolved()
	c.each(func(s *segment, all, named bool) bool {
		for _, program := range programs {
			ws := s.flat
			if !all {
				if ws = standIn(ws, program); ws == nil {
					continue
				}
			}
			for _, sub := range p.Commands {
				e := external{pieces: []PatternWord{{Text: program}, {Text: sub}}}
				if e.found(ws, all, named) {
					call = program + " " + sub
					return true
				}
			}
		}
		call = spelled.in(s.handsOn())
		unresolved = unresolved || s.is("crontab", "at", "batch") // which run what they read
		return call != ""
	})
	if call == "" && unresolved {
		call = spelled.in(text)
	}
	return call
}

// each shows every segment, and what each may run, until f is content.
func (c *command) each(f func(s *segment, all, named bool) bool) bool {
	for _, u := range c.units {
		for _, s := range u.readings {
			if f(s, false, false) {
				return true
			}
			for i := range s.tails {
				if t := &s.tails[i]; f(t.seg, t.all, t.named) {
					return true
				}
			}
		}
	}
	return false
}

// programs are the program's names with those that the text gives it, a variable's with its dollar sign.
func (c *command) programs(p Protected) []string {
	names := append([]string(nil), p.Programs...)
	is := func(w *word) bool {
		l := w.lastPart()
		return isOneOf(l.text, names)
	}
	add := func(name string) {
		if name != "" && !isOneOf(name, names) {
			names = append(names, name)
		}
	}
	asks := c.each(func(s *segment, _, _ bool) bool { // where the program is
		return s.is("which", "command", "type", "whereis", "realpath", "readlink") && len(s.flat) > 1 && is(&s.flat[len(s.flat)-1])
	})
	for known := 0; known < len(names) && len(names) <= len(p.Programs)+maxAliases; { // a name may be given on
		known = len(names)
		c.each(func(s *segment, _, _ bool) bool {
			for i := range s.assigns {
				if is(&s.assigns[i].value) {
					add("$" + s.assigns[i].name)
				}
			}
			s.names(is, asks, add)
			return len(names) > len(p.Programs)+maxAliases
		})
	}
	return names
}

// names tells add the names that a segment gives a program, of which is knows the words; asks: some of the text asks
// where it is, so that a word which holds output may be its path.
func (s *segment) names(is func(*word) bool, asks bool, add func(string)) {
	if len(s.flat) < 2 {
		return
	}
	last := &s.flat[len(s.flat)-1]
	switch {
	case s.is("export", "declare", "typeset", "readonly", "local", "alias"):
		for i := range s.flat[1:] {
			w := &s.flat[1+i]
			name, _, given := strings.Cut(w.front(), "=")
			if value := w.after(len(name) + 1); given && is(&value) {
				if !s.is("alias") {
					name = "$" + name
				}
				add(name)
			}
		}
	case s.is("printf") && s.flat[1].text == "-v" && len(s.flat) > 3 && is(last):
		add("$" + s.flat[2].text)
	case s.is("read") && s.stdin != nil && is(s.stdin):
		add("$" + last.text)
	case s.is("cp", "ln", "mv", "install", "link", "hash"):
		for i := range s.flat[1 : len(s.flat)-1] {
			if w := &s.flat[1+i]; is(w) || asks && w.has&(1<<opaque) != 0 {
				add(lastPart(last.text))
			}
		}
	}
}

// standIn gives the words with the program's own name for the first, where that can be it; else nil.
func standIn(ws []word, program string) []word {
	if len(ws) == 0 {
		return nil
	}
	verb := &ws[0]
	if verb.braced || (PatternWord{Text: program}).canVerb(verb) {
		return ws
	}
	last := verb.lastPart()
	name := strings.TrimSuffix(fold(last.text), ".exe") // some file systems don't tell letters apart
	if name != fold(program) && (last.front() == "" && !endsFixed(&last) || !last.open() || !globMatch(last.pieces, program, true)) {
		return nil
	}
	return append([]word{literal(program)}, ws[1:]...)
}

// endsFixed: something is written at the end of a word.
func endsFixed(w *word) bool {
	n := len(w.pieces)
	return n > 0 && w.pieces[n-1].kind == fixed && w.pieces[n-1].text != ""
}

// handsOn is what a segment hands on to be run in a language that is not read here.
func (s *segment) handsOn() string {
	effects := s.effectWords()
	if len(effects) == 0 {
		return ""
	}
	runs := s.is("git")
	for _, r := range theTables().effects[interpreterBase(s.name())] {
		runs = runs || r.shadowed && strings.Contains(r.kind, "exec")
	}
	if !runs {
		return ""
	}
	var b strings.Builder
	for _, e := range effects {
		if e.at < 0 || s.is("sed") { // the value of -i is a script that was read
			if e.at >= 0 {
				b.WriteString(s.words[e.at].text + "\n")
			}
			continue
		}
		for i := e.at; i < len(s.words); i++ {
			b.WriteString(s.words[i].text + " ")
		}
		break
	}
	return b.String()
}

func isOneOf(text string, list []string) bool {
	for _, l := range list {
		if text == l {
			return true
		}
	}
	return false
}

// spelling looks for a call that is written in a text of any language.
type spelling struct{ Protected }

// Between a program's name and its command, in whatever language.
const between = " \t\"'`,()[]{}"

// maxOptions is how many options in front of the command are passed over.
const maxOptions = 8

// in gives the call that is written in text; "" without one.
func (s spelling) in(text string) string {
	text = fold(text)
	for _, program := range s.Programs {
		name := fold(program)
		for from := 0; ; {
			n := strings.Index(text[from:], name)
			if n < 0 {
				break
			}
			begin, end := from+n, from+n+len(name)
			from = end
			if begin > 0 && inName(text[begin-1]) && !strings.HasSuffix(text[:begin], ":-") { // ${NAME:-runner}
				continue
			}
			if sub := s.commandIn(strings.TrimPrefix(text[end:], ".exe")); sub != "" {
				return program + " " + sub
			}
		}
	}
	return ""
}

// commandIn gives the command that stands at the beginning of what follows a program's name.
func (s spelling) commandIn(rest string) string {
	value := false // the word may be an option's value
	for range maxOptions {
		next := strings.TrimLeft(rest, between)
		if len(next) == len(rest) {
			return ""
		}
		end := 0
		for end < len(next) && inName(next[end]) {
			end++
		}
		token := next[:end]
		if isOneOf(token, s.Commands) {
			return token
		}
		option := strings.HasPrefix(token, "-")
		if !option && !value {
			return ""
		}
		end = strings.IndexAny(next, between+"\n;|&")
		if end < 0 {
			return ""
		}
		value, rest = option, next[end:]
	}
	return ""
}
