package policy

import "strings"

// command is a terminal command, read, and what the rules say of it.
type command struct {
	*analysis
	units  []*unit
	scope  *scope
	rules  *Rules
	unread []string // why the command is unresolved
}

// opinion is what the file says of one unit.
type opinion struct {
	by    string // "ask", "allow", "scope", "structure" or empty
	entry string
}

func (r *Rules) read(a Action, c Context) *command {
	an := analyse(a.Command)
	if strings.TrimSpace(a.Command) == "" {
		an.issue("there is nothing to run")
	}
	cmd := &command{analysis: an, rules: r, units: an.units()}
	if len(cmd.units) == 0 {
		an.issue("there is nothing to run")
	}
	an.checkSource()
	if a.Command == "" {
		cmd.scope = &scope{result: ScopeUnknown, dirs: []string{""}, upto: make([]int, len(an.items))}
	} else {
		cmd.scope = an.scopeOf(c, a.Cwd)
	}
	return cmd
}

// unresolved gives the reasons why the command can't be resolved, the guess included.
func (c *command) unresolved() []string {
	if c.unread != nil {
		return c.unread
	}
	out := append([]string{}, c.issues...)
	for _, u := range c.units {
		for _, s := range u.readings {
			out = append(out, s.issues...)
			for _, l := range []*list{&c.rules.builtin, &c.rules.deny, &c.rules.ask} {
				if p := l.guess(s); p != nil {
					out = append(out, "a word that is not known may make it "+p.Entry)
				}
				for i := range s.tails {
					if t := &s.tails[i]; t.asks {
						if ps := l.tail(t, true); len(ps) > 0 {
							out = append(out, "a word that is not known may make it "+ps[0].Entry)
						}
					}
				}
			}
		}
	}
	c.unread = out
	return out
}

// denied is step 5: the pattern that a reachable segment can be, and whether it is a built-in one.
func (c *command) denied() (entry string, builtin bool) {
	if p := c.deniedBy(&c.rules.builtin); p != nil {
		return p.Entry, true
	}
	if p := c.deniedBy(&c.rules.deny); p != nil {
		return p.Entry, false
	}
	return "", false
}

func (c *command) deniedBy(l *list) *Pattern {
	if len(l.patterns) == 0 {
		return nil
	}
	for _, u := range c.units {
		if p := l.can(u.stands); p != nil {
			return p
		}
		for _, s := range u.readings {
			if s != u.stands {
				if p := l.can(s); p != nil {
					return p
				}
			}
			for i := range s.tails {
				t := &s.tails[i]
				if t.softDeny {
					continue
				}
				for _, p := range l.tail(t, false) {
					if !t.softWord || len(p.Words) > 1 {
						return p
					}
				}
			}
		}
	}
	return nil
}

// asked finds an ask entry that a unit can be, or a deny that only asks.
func (c *command) asked(u *unit) string {
	if p := c.rules.ask.can(u.stands); p != nil {
		return p.Entry
	}
	for _, s := range u.readings {
		if s != u.stands {
			if p := c.rules.ask.can(s); p != nil {
				return p.Entry
			}
		}
		for i := range s.tails {
			t := &s.tails[i]
			if !t.asks {
				continue
			}
			if ps := c.rules.ask.tail(t, false); len(ps) > 0 {
				return ps[0].Entry
			}
			for _, l := range []*list{&c.rules.builtin, &c.rules.deny} {
				for _, p := range l.tail(t, false) {
					if t.softDeny || t.softWord && len(p.Words) == 1 {
						return p.Entry
					}
				}
			}
		}
	}
	return ""
}

// opinionOf is step 6 for one unit.
func (c *command) opinionOf(u *unit) opinion {
	if e := c.asked(u); e != "" {
		return opinion{"ask", e}
	}
	if e := c.allowed(u); e != "" {
		return opinion{"allow", e}
	}
	if c.scope.result == ScopeIn && c.every(u, func(s *segment) bool {
		return len(s.words) > 0 && s.words[0].plain() && s.words[0].text == "cd" && len(s.assigns) == 0
	}) {
		return opinion{by: "scope"}
	}
	if c.every(u, func(s *segment) bool { return s.through }) {
		return opinion{by: "structure"}
	}
	if len(c.units) > 1 && c.every(u, c.setsScratch) {
		return opinion{by: "structure"}
	}
	return opinion{}
}

func (c *command) every(u *unit, f func(*segment) bool) bool {
	for _, s := range u.readings {
		if !f(s) {
			return false
		}
	}
	return true
}

// allowed: an entry covers the unit in every reading, or as it stands if no reading has an effect word.
func (c *command) allowed(u *unit) string {
	entry := ""
	all := true
	effects := false
	for _, s := range u.readings {
		p := c.rules.allow.covering(s)
		if p == nil {
			all = false
		} else if entry == "" {
			entry = p.Entry
		}
		if s != u.stands {
			effects = effects || len(s.effectWords()) > 0
		}
	}
	if all {
		return entry
	}
	if u.readings[0] != u.stands && !effects {
		if p := c.rules.allow.coveringTextually(u.stands); p != nil {
			return p.Entry
		}
	}
	return ""
}

// coveringTextually matches a segment as it stands, whose effects its readings know better.
func (l *list) coveringTextually(s *segment) *Pattern {
	bare := *s
	bare.effects, bare.effectsDone = nil, true
	return l.covering(&bare)
}

// setsScratch: the segment only sets scratch names (section 17).
func (c *command) setsScratch(s *segment) bool {
	if len(s.words) == 0 {
		if len(s.assigns) == 0 || len(s.targets) > 0 || s.stdin != nil {
			return false
		}
		for i := range s.assigns {
			as := &s.assigns[i]
			if !as.plain || as.globby || !scratch(as.name) {
				return false
			}
		}
		return true
	}
	if !s.words[0].plain() || s.words[0].text != "read" || !s.readable {
		return false
	}
	for i := range s.assigns {
		as := &s.assigns[i]
		if len(s.assigns) > 1 || as.name != "IFS" || !as.plain || !as.value.known() {
			return false
		}
	}
	for i := range s.targets {
		if s.targets[i].writes {
			return false
		}
	}
	for i := 1; i < len(s.words); i++ {
		w := &s.words[i]
		if !w.plain() || w.text != "-r" && !scratch(w.text) {
			return false
		}
	}
	return true
}
