package machinepolicy

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"brabo.dev/runner/runner/policy"
)

// Ceiling is a kind of action about which a person has to decide (policy.md section 7).
type Ceiling string

// The ceilings that have an answer of their own.
const (
	ExternalEffect Ceiling = "external_effect" // typed git and merges, too
	Privileged     Ceiling = "privileged"
	PolicyFile     Ceiling = "policy_file"
	Unresolved     Ceiling = "unresolved"
)

// CeilingOf is the ceiling of a rule; "" for one that has no answer of its own, like the removal of a container: that is as
// Usual.
func CeilingOf(r policy.Rule) Ceiling {
	switch r {
	case policy.CeilingExternalEffect, policy.CeilingTypedGit, policy.CeilingProtectedMerge:
		return ExternalEffect
	case policy.CeilingPrivileged:
		return Privileged
	case policy.CeilingPolicyFile, policy.CeilingInstructionPatch:
		return PolicyFile
	case policy.CeilingUnresolved:
		return Unresolved
	}
	return ""
}

// Response is what happens at a ceiling.
type Response string

// The responses, from the weakest.
const (
	// Trust lets pass whatever the server approved.
	Trust Response = "trust"
	// Usual is where nothing is said: a person's decision passes, a server that can't say who decided is trusted to
	// have asked one, and everything else is held for the person at this machine.
	Usual Response = ""
	// Confirm holds everything that a person is not known to have decided.
	Confirm Response = "confirm"
	// Refuse lets nothing pass, whoever decided.
	Refuse Response = "refuse"
)

func (r Response) rank() int { return slices.Index([]Response{Trust, Usual, Confirm, Refuse}, r) }

// Confine is how commands are confined on the host.
type Confine struct {
	On          bool
	Read, Write []string // absolute folders beside the project's and the system's
	Network     bool
}

// Lock is what the files say about one project. The zero value says nothing.
type Lock struct {
	own, managed rules
}

// For is what p says about a project.
func (p Policy) For(projectID string) Lock { return Together(p, Policy{}, projectID) }

// Together is what the own file says about a project, narrowed by the managed one.
func Together(own, managed Policy, projectID string) Lock {
	return Lock{own.rules(projectID), managed.rules(projectID)}
}

// rules are the project's over the default's.
func (p Policy) rules(projectID string) rules {
	r, over := p.base, p.projects[projectID]
	if over.actions != nil {
		r.actions = over.actions
	}
	if over.roots != nil {
		r.roots = over.roots
	}
	if over.images != nil {
		r.images = over.images
	}
	if over.network != "" {
		r.network = over.network
	}
	if over.terminals != nil {
		r.terminals = over.terminals
	}
	r.confine = over.confine.over(r.confine)
	r.deny = slices.Concat(r.deny, over.deny)
	merged := map[Ceiling]Response{}
	for _, from := range []map[Ceiling]Response{r.ceilings, over.ceilings} {
		for c, answer := range from {
			merged[c] = answer
		}
	}
	r.ceilings = merged
	return r
}

func (l Lock) both() [2]rules { return [2]rules{l.own, l.managed} }

// Allows reports whether actions of a type may run at all.
func (l Lock) Allows(actionType string) bool {
	for _, r := range l.both() {
		if r.actions != nil && !slices.Contains(r.actions, actionType) {
			return false
		}
	}
	return true
}

// AllowsFolder reports whether a project or a mirror may lie at path, an absolute folder, and at real, which is path
// with its links followed.
func (l Lock) AllowsFolder(path, real string) bool {
	for _, r := range l.both() {
		if r.roots != nil && !slices.ContainsFunc(r.roots, func(root string) bool {
			followed, err := filepath.EvalSymlinks(root)
			return within(path, root) && within(real, root) || err == nil && within(real, followed)
		}) {
			return false
		}
	}
	return true
}

// within: path is folder or lies below it, as written.
func within(path, folder string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && (rest == "." || filepath.IsLocal(rest))
}

// AllowsImage reports whether containers may be made from an image.
func (l Lock) AllowsImage(image string) bool {
	for _, r := range l.both() {
		if r.images != nil && !slices.ContainsFunc(r.images, func(pattern string) bool {
			front, star := strings.CutSuffix(pattern, "*")
			return image == pattern || star && strings.HasPrefix(image, front)
		}) {
			return false
		}
	}
	return true
}

// AllowsEgress reports whether a container may reach the network.
func (l Lock) AllowsEgress() bool {
	return l.own.network != "none" && l.managed.network != "none"
}

// Terminals reports whether terminals may be opened.
func (l Lock) Terminals() bool {
	for _, r := range l.both() {
		if r.terminals != nil && !*r.terminals {
			return false
		}
	}
	return true
}

// Denies are the denies of both files.
func (l Lock) Denies() []*policy.Rules { return slices.Concat(l.own.deny, l.managed.deny) }

// At is what happens at a ceiling.
func (l Lock) At(c Ceiling) Response {
	own := l.own.ceilings[c]
	if managed, said := l.managed.ceilings[c]; said && managed.rank() > own.rank() {
		return managed
	}
	return own
}

// Confine is how commands are confined: where either file says so, with no more folders and no more network than each
// of those that say so lets.
func (l Lock) Confine() Confine {
	c := Confine{Network: true}
	for _, r := range l.both() {
		f := r.confine
		if f == nil || f.on == nil || !*f.on {
			continue
		}
		if c.On { // the second one narrows
			c.Read, c.Write = inBoth(c.Read, f.read), inBoth(c.Write, f.write)
		} else {
			c.On, c.Read, c.Write = true, f.read, f.write
		}
		c.Network = c.Network && (f.network == nil || *f.network)
	}
	return c
}

// over is what c says in place of what base says, member by member: a project that only adds a folder stays confined.
func (c *confine) over(base *confine) *confine {
	if c == nil || base == nil {
		return cmp.Or(c, base)
	}
	merged := *base
	if c.on != nil {
		merged.on = c.on
	}
	if c.read != nil {
		merged.read = c.read
	}
	if c.write != nil {
		merged.write = c.write
	}
	if c.network != nil {
		merged.network = c.network
	}
	return &merged
}

// inBoth gives the folders of each list that lie in one of the other's.
func inBoth(a, b []string) []string {
	var all []string
	for _, lists := range [][2][]string{{a, b}, {b, a}} {
		for _, f := range lists[0] {
			if slices.ContainsFunc(lists[1], func(o string) bool { return within(f, o) }) && !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	return all
}
