package policy

// Recheck is a terminal command that arrives as approved, read once, so that a second lock can ask it several
// questions (section 15). It is for one goroutine.
type Recheck struct {
	cmd       *command
	text, cwd string
}

// NewRecheck reads the command of a. Its own are the built-in denies and those of file, which is the project's
// permissions.json as far as it binds.
func NewRecheck(a Action, file Permissions, c Context) *Recheck {
	if a.Cwd == "" {
		a.Cwd = c.ScopeRoot
	}
	rules := Compile(Permissions{Deny: file.Deny, Ask: file.Ask})
	return &Recheck{cmd: rules.read(a, c), text: a.Command, cwd: a.Cwd}
}

// Denied is step 5 by the built-in denies, those of the file, and those of the further rules.
func (r *Recheck) Denied(further ...*Rules) (Decision, bool) {
	if d, denied := r.cmd.deny(); denied {
		return d, true
	}
	for _, rules := range further {
		if p := r.cmd.deniedBy(&rules.deny); p != nil {
			return decision(Deny, FileDeny, "The deny entry %s matches.", p.Entry), true
		}
	}
	return Decision{}, false
}

// Parses says whether the text is Bash as far as it can be told. Text that is not runs nowhere as it was meant.
func (r *Recheck) Parses() bool {
	for _, why := range r.cmd.issues {
		if why == issueNoParse {
			return false
		}
	}
	return true
}

// Ceilings are those of the first five of step 7 that apply, but for typed git, in that order.
func (r *Recheck) Ceilings() []Decision {
	var met []Decision
	for _, look := range []func() (Decision, bool){
		r.cmd.ceilingExternal, r.cmd.ceilingPrivileged, r.cmd.ceilingUnresolved, r.cmd.ceilingPolicyFile,
	} {
		if d, meets := look(); meets {
			met = append(met, d)
		}
	}
	return met
}

// DeniesType is step 5 for an action that is no terminal command: the entry of r that denies its type.
func (r *Rules) DeniesType(actionType string) (entry string, denied bool) {
	entry, denied = r.deny.typed[actionType]
	return entry, denied
}

// TypedCeiling is the ceiling of step 7 that an action meets which is no terminal command.
func TypedCeiling(a Action, c Context) (Decision, bool) {
	t, ok := typeNamed(a.Type)
	if !ok || a.Type == typeTerminal {
		return Decision{}, false
	}
	d := (&Rules{}).typed(a, t, Decision{Policy: AutoApprove}, c)
	return d, d.Policy != AutoApprove
}
