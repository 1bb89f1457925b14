package policy

import "strings"

// RefusedAlwaysAllow is the reason with which "always allow" is refused outright (section 11).
const RefusedAlwaysAllow = "teto_do_sempre_permitir"

// Remembered is what "always allow" writes for one action.
type Remembered struct {
	Patterns   []string // entries for allow, in order; none where nothing can be written
	AskEntries []string // the ask entries that go on asking
	Refused    bool     // refused outright, with RefusedAlwaysAllow; nothing is written
}

// NeverRemembered says whether "always allow" is refused for an action type, whatever the action. It is the one list
// for the server and for whatever draws the button.
func NeverRemembered(actionType string) bool {
	switch actionType {
	case "git_push", "pr_open", typeGitMerge, "container_remove", "instruction_patch", "parallelize", "raise_max_parallel":
		return true
	}
	return false
}

// Remember gives the entries that "always allow" writes for an action (section 11).
func Remember(a Action, p Permissions, c Context) Remembered {
	if NeverRemembered(a.Type) {
		return Remembered{Refused: true}
	}
	r := Compile(p)
	if a.Type != typeTerminal {
		t, ok := typeNamed(a.Type)
		if e, asks := r.ask.typed[a.Type]; asks {
			return Remembered{AskEntries: []string{e}}
		}
		if !ok {
			return Remembered{}
		}
		return Remembered{Patterns: []string{t.Label + "()"}}
	}
	cmd := r.read(a, c)
	if _, external := cmd.external(); external || cmd.privileged() {
		return Remembered{Refused: true}
	}
	var out Remembered
	nothing := len(cmd.unresolved()) > 0 || cmd.policyFile(cmd.scope) != ""
	for _, u := range cmd.units {
		if e := cmd.asked(u); e != "" {
			out.AskEntries = appendNew(out.AskEntries, e)
			continue
		}
		if nothing || cmd.needsNone(u) {
			continue
		}
		if e, ok := cmd.entryFor(u); ok {
			out.Patterns = appendNew(out.Patterns, e)
		}
	}
	return out
}

func appendNew(list []string, s string) []string {
	if listed(list, s) {
		return list
	}
	return append(list, s)
}

// needsNone: a wrapper's own segment that is carried through, or one that only sets scratch names.
func (c *command) needsNone(u *unit) bool {
	return c.every(u, func(s *segment) bool { return s.through }) ||
		len(c.units) > 1 && c.every(u, c.setsScratch)
}

// entryFor is the entry for one segment as it stands; ok is false where none can be written.
func (c *command) entryFor(u *unit) (entry string, ok bool) {
	s := u.stands
	if len(s.words) == 0 {
		return "", false
	}
	n := unitLength(s)
	if startsExternal(s.words[:n]) {
		if n = len(s.words); startsExternal(s.words) {
			return "", false
		}
	}
	exact := s.is("ssh") || in("declares", s.name()) || in("elsewhere", s.name()) && len(s.tails) > 0
	for _, r := range u.readings {
		exact = exact || len(r.effectWords()) > 0
	}
	if exact {
		n = len(s.words)
	}
	entry, ok = quoteEntry(s.words[:n])
	if !ok || !exact {
		return entry, ok
	}
	l := newList([]string{entry})
	for _, r := range u.readings {
		if l.covering(r) == nil {
			return "", false
		}
	}
	return entry, true
}

// unitLength is how many words the unit of a pattern has.
func unitLength(s *segment) int {
	if len(s.words) == 1 {
		return 1
	}
	switch w := &s.words[1]; {
	case strings.HasPrefix(w.front(), "-"):
		return len(s.words)
	case w.plain() && plainWord(w.text):
		return 2
	}
	return 1
}

// plainWord is [A-Za-z][A-Za-z0-9_:-]*.
func plainWord(t string) bool {
	for i := range len(t) {
		c := t[i]
		if !isLetter(c) && (i == 0 || !isDigit(c) && c != '_' && c != ':' && c != '-') {
			return false
		}
	}
	return t != ""
}

// startsExternal: the words are, one by one, a prefix of a prefix of section 8.
func startsExternal(ws []word) bool {
	for _, e := range theTables().prefixes {
		if len(ws) > len(e.words) {
			continue
		}
		same := true
		for i := range ws {
			same = same && ws[i].plain() && ws[i].text == e.words[i]
		}
		if same {
			return true
		}
	}
	return false
}

// quoteEntry writes words so that the entry reads back as the same words.
func quoteEntry(ws []word) (string, bool) {
	parts := make([]string, len(ws))
	for i := range ws {
		w := &ws[i]
		if w.isOpaque() || w.isNumber() && !w.plain() && strings.Contains(w.text, "…") {
			return "", false
		}
		if strings.HasSuffix(w.text, "*") && !strings.HasSuffix(w.text, "/*") {
			return "", false
		}
		parts[i] = quoteWord(w.text)
	}
	entry := "Terminal(" + strings.Join(parts, " ") + ")"
	p := ParsePattern(entry)
	if p.Inert != "" || p.Operator != "" || len(p.Words) != len(ws) {
		return "", false
	}
	for i := range ws {
		if p.Words[i].Star || p.Words[i].Text != ws[i].text {
			return "", false
		}
	}
	return entry, true
}

func quoteWord(t string) string {
	if t != "" && strings.Trim(t, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-[]{}*?~^!#`") == "" {
		return t
	}
	return "'" + strings.ReplaceAll(t, "'", `'\''`) + "'"
}
