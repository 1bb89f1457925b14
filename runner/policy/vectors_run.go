package policy

import "fmt"

// Check decides the vector anew and says how the answer differs from the one expected; empty where it doesn't.
func (v Vector) Check() string {
	if m := v.Match; m != nil {
		if got := Matches(m.Pattern, m.Command); got != m.Match {
			return fmt.Sprintf("%s and %q: match %v, want %v", m.Pattern, m.Command, got, m.Match)
		}
		return ""
	}
	d := v.Decide
	got, err := Decide(d.Action, d.Role, d.Autonomy, d.Permissions, d.Context)
	switch {
	case err != nil:
		return err.Error()
	case got.Policy != d.Policy || got.Rule != d.Rule:
		return fmt.Sprintf("%s by %s, want %s by %s", got.Policy, got.Rule, d.Policy, d.Rule)
	}
	return ""
}
