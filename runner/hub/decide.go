package hub

import (
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// question is all that a decision about a proposal looks at.
type question struct {
	place       Place
	action      policy.Action
	role        policy.Role
	autonomy    policy.Autonomy
	permissions policy.Permissions
	context     policy.Context
}

// ask puts the question about a proposal together. The minimum role is looked at before any file: without it the
// question holds no rules. It fails with PermissionsFileInvalid and with the failures of a root that is none.
func (h *Hub) ask(p Project, who Principal, proposed Proposal) (question, error) {
	place, err := h.place(p)
	if err != nil {
		return question{}, err
	}
	q := question{place: place, action: proposed.action(), role: who.Role}
	if !who.Role.AtLeast(minimumRole(proposed.Type)) {
		return q, nil
	}
	file, err := policy.Load(place.File)
	if err != nil {
		return q, err
	}
	q.permissions = file.Permissions
	q.context = policy.Context{ScopeRoot: place.Root, AlsoInside: p.AlsoInside}
	err = h.store.View(func(tx store.Tx) error {
		if who.Kind == kindAgent {
			rows, err := tx.AutonomyFor(p.ID, who.ID, proposed.Type)
			if err != nil {
				return err
			}
			q.autonomy = autonomyOf(rows, who.ID, proposed.Type)
		}
		if p.Mode != ModeContainer || proposed.Type != typeTerminal {
			return nil
		}
		c, err := containerOf(tx, p.ID)
		q.context.ContainerRunning = c.State == containerRunning
		return err
	})
	return q, err
}

// decide is the decision of policy.md section 7.
func (q question) decide() (policy.Decision, error) {
	return policy.Decide(q.action, q.role, q.autonomy, q.permissions, q.context)
}

// minimumRole is that of an action type (policy.md section 2); none for a type that there is not.
func minimumRole(kind string) policy.Role {
	for _, t := range policy.Types() {
		if t.Type == kind {
			return t.MinimumRole
		}
	}
	return ""
}

// autonomyOf picks the row that counts (policy.md section 7): that of the agent and the type, then the agent's
// wildcard; behind these the rows for every agent, in the same order.
func autonomyOf(rows []store.Autonomy, agent, kind string) policy.Autonomy {
	for _, whose := range []string{agent, everyAgent} {
		for _, about := range []string{kind, everyType} {
			for _, row := range rows {
				if row.Agent == whose && row.Type == about {
					origin := "specific"
					if about == everyType {
						origin = "wildcard"
					}
					return policy.Autonomy{Mode: policy.Verdict(row.Mode), Origin: origin}
				}
			}
		}
	}
	return policy.Autonomy{}
}

// The wildcards of an autonomy row.
const (
	everyAgent = "*"
	everyType  = "*"
)
