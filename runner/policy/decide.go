package policy

import (
	"fmt"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// Decide is the decision of section 7. It fails only for an unknown action type, with UnknownActionType. It reads the
// entries anew, which takes some ten times as long as a simple decision: who decides often by the same ones calls
// Compile once.
func Decide(a Action, role Role, au Autonomy, p Permissions, c Context) (Decision, error) {
	return Compile(p).Decide(a, role, au, c)
}

// Decide is the decision of section 7 by rules that were read before.
func (r *Rules) Decide(a Action, role Role, au Autonomy, c Context) (Decision, error) {
	d, _, err := r.decide(a, role, au, c)
	return d, err
}

func (r *Rules) decide(a Action, role Role, au Autonomy, c Context) (Decision, *command, error) {
	t, ok := typeNamed(a.Type)
	if !ok {
		return Decision{}, nil, failure.New(failure.UnknownActionType, fmt.Sprintf("type %q", a.Type))
	}
	if !role.AtLeast(t.MinimumRole) {
		return decision(Deny, RoleMinimum, "%s takes at least the role %s.", a.Type, t.MinimumRole), nil, nil
	}
	current := decision(RequireApproval, Default, "Nothing was said about this, so a person decides.")
	if a.Type == typeTerminal && c.ContainerRunning {
		current = decision(AutoApprove, ContainerFloor, "It runs inside of the project's running container.")
	}
	switch au.Mode {
	case Deny:
		return decision(Deny, AutonomyDeny, "The agent's autonomy denies %s.", a.Type), nil, nil
	case AutoApprove:
		current = decision(AutoApprove, AutonomyAutoApprove, "The agent's autonomy approves %s.", a.Type)
	case RequireApproval:
		current = decision(RequireApproval, AutonomyRequireApproval, "The agent's autonomy asks about %s.", a.Type)
	}
	auto := au.Mode == AutoApprove && au.Origin == "wildcard"
	if a.Type != typeTerminal {
		return r.typed(a, t, current, c), nil, nil
	}
	cmd := r.read(a, c)
	if d, denied := cmd.deny(); denied {
		return d, cmd, nil
	}
	if d, said := cmd.file(auto); said {
		current = d
	}
	if current.Policy == AutoApprove {
		if d, met := cmd.ceiling(auto); met {
			current = d
		}
	}
	return current, cmd, nil
}

func decision(v Verdict, rule Rule, format string, args ...any) Decision {
	return Decision{Policy: v, Rule: rule, Reason: fmt.Sprintf(format, args...)}
}

// deny is step 5.
func (c *command) deny() (Decision, bool) {
	entry, builtin := c.denied()
	switch {
	case entry == "":
		return Decision{}, false
	case builtin:
		return decision(Deny, BuiltinDeny, "The built-in deny %s matches.", entry), true
	}
	return decision(Deny, FileDeny, "The deny entry %s matches.", entry), true
}

// file is step 6: what the file says of all segments together; said is false for silence.
func (c *command) file(auto bool) (d Decision, said bool) {
	if len(c.units) == 0 {
		return d, false
	}
	var first opinion
	ask, unmatched := "", -1
	for i, u := range c.units {
		o := c.opinionOf(u)
		if i == 0 {
			first = o
		}
		switch {
		case o.by == "ask" && ask == "":
			ask = o.entry
		case o.by == "" && unmatched < 0:
			unmatched = i
		}
	}
	if len(c.units) == 1 {
		switch first.by {
		case "allow":
			return decision(AutoApprove, FileAllow, "The allow entry %s matches.", first.entry), true
		case "ask":
			return decision(RequireApproval, FileAsk, "The ask entry %s matches.", ask), true
		case "scope":
			return decision(AutoApprove, ScopeCD, "This cd stays inside of the scope."), true
		}
		return d, false
	}
	switch {
	case ask != "":
		return decision(RequireApproval, FileAsk, "The entry %s asks about a part of it.", ask), true
	case unmatched < 0:
		return decision(AutoApprove, CompoundAllAllowed, "Every one of its %d commands is allowed.", len(c.units)), true
	case auto:
		return d, false
	}
	return decision(RequireApproval, CompoundUnmatched, "No entry allows this part of it: %s", c.show(c.units[unmatched].stands)), true
}

// ceiling is step 7 for terminal commands: the first one that applies.
func (c *command) ceiling(auto bool) (Decision, bool) {
	for _, look := range []func() (Decision, bool){c.ceilingExternal, c.ceilingPrivileged, c.ceilingUnresolved, c.ceilingPolicyFile} {
		if d, meets := look(); meets {
			return d, true
		}
	}
	if c.scope.result == ScopeOut && !auto {
		return decision(RequireApproval, CeilingPathScope, "It reaches outside of the project: %s.", c.scope.relative(c.scope.why)), true
	}
	return Decision{}, false
}

func (c *command) ceilingExternal() (Decision, bool) {
	e, ok := c.external()
	if !ok {
		return Decision{}, false
	}
	return decision(RequireApproval, CeilingExternalEffect, "%s reaches the outside world; the proper way is %s.",
		strings.Join(e.words, " "), e.way), true
}

func (c *command) ceilingPrivileged() (Decision, bool) {
	if !c.privileged() {
		return Decision{}, false
	}
	return decision(RequireApproval, CeilingPrivileged, "A person decides each time about a command with sudo or doas."), true
}

func (c *command) ceilingUnresolved() (Decision, bool) {
	why := c.unresolved()
	if len(why) == 0 {
		return Decision{}, false
	}
	return decision(RequireApproval, CeilingUnresolved, "What would run can not be told from the text: %s.", c.scope.relative(why[0])), true
}

func (c *command) ceilingPolicyFile() (Decision, bool) {
	w := c.policyFile(c.scope)
	if w == "" {
		return Decision{}, false
	}
	return decision(RequireApproval, CeilingPolicyFile, "It may change a guarded file: %s.", c.scope.relative(w)), true
}

// external finds a prefix of section 8 in a reachable segment or a tail.
func (c *command) external() (external, bool) {
	for _, u := range c.units {
		for _, s := range u.readings {
			if e, ok := externalIn(s, false, false); ok {
				return e, true
			}
			for i := range s.tails {
				t := &s.tails[i]
				if e, ok := externalIn(t.seg, t.all, t.named); ok {
					return e, true
				}
			}
		}
	}
	return external{}, false
}

func externalIn(s *segment, all, named bool) (external, bool) {
	list := theTables().prefixes
	if n := s.name(); !all && n != "" {
		list = theTables().external[n]
	}
	for _, e := range list {
		if e.found(s.flat, all, named) {
			return e, true
		}
	}
	return external{}, false
}

func (e *external) found(ws []word, all, named bool) bool {
	if len(ws) == 0 || !all && !ws[0].braced && !e.pieces[0].canVerb(&ws[0]) {
		return false
	}
	m := machine{pieces: e.pieces, external: true, all: all, named: named}
	return m.match(ws)
}

// privileged: a reachable segment has the verb sudo or doas.
func (c *command) privileged() bool {
	for _, u := range c.units {
		for _, s := range u.readings {
			if privileged(s.flat, false, false) {
				return true
			}
			for i := range s.tails {
				if t := &s.tails[i]; t.privilege && privileged(t.seg.flat, t.all, t.named) {
					return true
				}
			}
		}
	}
	return false
}

func privileged(ws []word, all, named bool) bool {
	for _, v := range []string{"sudo", "doas"} {
		m := machine{pieces: []PatternWord{{Text: v}}, all: all, named: named}
		if !all {
			if len(ws) == 0 || !ws[0].braced && !m.pieces[0].canVerb(&ws[0]) {
				continue
			}
		}
		if m.match(ws) {
			return true
		}
	}
	return false
}

// typed decides about an action that is no terminal command.
func (r *Rules) typed(a Action, t ActionType, current Decision, c Context) Decision {
	if e, ok := r.deny.typed[a.Type]; ok {
		return decision(Deny, FileDeny, "The deny entry %s matches.", e)
	}
	if e, ok := r.ask.typed[a.Type]; ok {
		current = decision(RequireApproval, FileAsk, "The ask entry %s matches.", e)
	} else if e, ok := r.allow.typed[a.Type]; ok {
		current = decision(AutoApprove, FileAllow, "The allow entry %s matches.", e)
	}
	if current.Policy != AutoApprove {
		return current
	}
	switch t.Ceiling {
	case CeilingTypedGit:
		return decision(RequireApproval, t.Ceiling, "A person decides about every %s.", a.Type)
	case CeilingInstructionPatch, CeilingParallelism, CeilingContainerRemove:
		return decision(RequireApproval, t.Ceiling, "A person decides about every %s.", a.Type)
	}
	switch {
	case a.Type == typeWriteFile && a.Path != "":
		root := ""
		if validRoot(c.ScopeRoot) {
			root = cleanPath(trimSlashes(c.ScopeRoot))
		}
		if guardedPath(a.Path, root) {
			return decision(RequireApproval, CeilingPolicyFile, "It may change a guarded file.")
		}
	case a.Type == typeGitMerge && protectedBranch(a.TargetBranch):
		return decision(RequireApproval, CeilingProtectedMerge, "A person decides about a merge into a protected branch or one that is not named.")
	}
	return current
}

// protectedBranch: dev, qa, rc, main, or no named branch (section 7).
func protectedBranch(b string) bool {
	switch strings.TrimPrefix(strings.TrimSpace(b), "refs/heads/") {
	case "dev", "qa", "rc", "main", "":
		return true
	}
	return false
}

// RecheckDeny is the second lock of section 15: step 5 alone, built-ins and the deny list, for an action that arrives
// as approved.
func RecheckDeny(a Action, p Permissions, c Context) (Decision, bool) {
	r := Compile(Permissions{Deny: p.Deny})
	if a.Type != typeTerminal {
		if e, ok := r.deny.typed[a.Type]; ok {
			return decision(Deny, FileDeny, "The deny entry %s matches.", e), true
		}
		return Decision{}, false
	}
	return r.read(a, c).deny()
}

// show is a segment as text for a person.
func (c *command) show(s *segment) string {
	var parts []string
	for i := range s.assigns {
		parts = append(parts, s.assigns[i].name+"="+s.assigns[i].value.text)
	}
	for i := range s.words {
		parts = append(parts, s.words[i].text)
	}
	return c.scope.relative(strings.Join(parts, " "))
}
