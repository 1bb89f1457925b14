package policy

// Explanation is a decision with what led to it, segment by segment.
type Explanation struct {
	Decision   Decision             `json:"decision"`
	Segments   []SegmentExplanation `json:"segments"`
	Unresolved []string             `json:"unresolved,omitempty"` // why the command is unresolved
	Scope      ScopeResult          `json:"scope"`
	Outside    string               `json:"outside,omitempty"` // what lies outside of the scope
}

// SegmentExplanation is one reachable segment.
type SegmentExplanation struct {
	Words    []string `json:"words"`
	Written  bool     `json:"written"`           // the grammar yields it; otherwise found in a wrapper or a text
	Readings int      `json:"readings"`          // how many words of loops it is read with
	Opinion  string   `json:"opinion"`           // "deny", "ask", "allow", "scope", "structure" or "none"
	Entry    string   `json:"entry,omitempty"`   // the entry that matched
	Effects  []string `json:"effects,omitempty"` // the effect words that an allow entry must name
	Issues   []string `json:"issues,omitempty"`  // why this segment is unresolved
}

// Explain decides and says why. It fails as Decide does.
func Explain(a Action, role Role, au Autonomy, p Permissions, c Context) (Explanation, error) {
	r := Compile(p)
	d, cmd, err := r.decide(a, role, au, c)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Decision: d, Scope: ScopeUnknown}
	if a.Type != typeTerminal {
		return e, nil
	}
	if cmd == nil {
		cmd = r.read(a, c)
	}
	e.Scope, e.Outside = cmd.scope.result, cmd.scope.relative(cmd.scope.why)
	seen := map[string]bool{}
	for _, why := range cmd.unresolved() {
		if !seen[why] {
			seen[why] = true
			e.Unresolved = append(e.Unresolved, why)
		}
	}
	for _, u := range cmd.units {
		e.Segments = append(e.Segments, cmd.explain(u))
	}
	return e, nil
}

func (c *command) explain(u *unit) SegmentExplanation {
	s := SegmentExplanation{Written: u.written, Readings: len(u.readings)}
	for i := range u.stands.assigns {
		as := &u.stands.assigns[i]
		s.Words = append(s.Words, as.name+"="+as.value.text)
	}
	for i := range u.stands.words {
		s.Words = append(s.Words, u.stands.words[i].text)
	}
	one := &command{analysis: c.analysis, scope: c.scope, rules: c.rules, units: []*unit{u}}
	if entry, _ := one.denied(); entry != "" {
		s.Opinion, s.Entry = "deny", entry
	} else {
		o := c.opinionOf(u)
		s.Opinion, s.Entry = o.by, o.entry
		if o.by == "" {
			s.Opinion = "none"
		}
	}
	seen := map[string]bool{}
	for _, r := range u.readings {
		for _, e := range r.effectWords() {
			t := "(the verb itself)"
			if e.at >= 0 {
				t = r.words[e.at].text
			}
			if !seen[t] {
				seen[t] = true
				s.Effects = append(s.Effects, t)
			}
		}
		for _, why := range r.issues {
			if !seen["\x00"+why] {
				seen["\x00"+why] = true
				s.Issues = append(s.Issues, why)
			}
		}
	}
	return s
}
