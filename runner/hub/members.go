package hub

import (
	"errors"
	"regexp"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// agentName is what agents and members may be called.
var agentName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$`)

func badName(name string) error {
	return failure.New(failure.BadRequest, "id "+printable(name)).
		Because("a name has up to 100 letters, digits and any of . _ @ -, and begins with a letter or a digit")
}

// AddAgent makes an agent of a project, or of every project for an empty one, in the name of a person, and gives its
// token, which is told only now. One that is there gets a new token. It fails with BadRequest or ProjectNotFound, and with
// Forbidden for a person below maintainer where somebody else's agent has that name: the log would name it for what the
// new one does.
func (h *Hub) AddAgent(by Principal, projectID, id string) (token string, err error) {
	if !agentName.MatchString(id) {
		return "", badName(id)
	}
	if projectID != "" {
		if err := h.knows(projectID); err != nil {
			return "", err
		}
	}
	token = newToken(agentPrefix)
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	err = h.commitDurablyLocked(func(tx store.Tx) error {
		agents, err := tx.Agents()
		if err != nil {
			return err
		}
		for _, other := range agents {
			overlap := other.Project == projectID || other.Project == "" || projectID == ""
			if other.ID == id && overlap && other.Issuer != by.ID && !by.Role.AtLeast(policy.Maintainer) {
				return forbidden("agent "+id, "somebody else's agent has this name")
			}
		}
		a := store.Agent{ID: id, Project: projectID, Token: store.Hash(token), Issuer: by.ID, Created: now}
		if err := tx.PutAgent(a); err != nil {
			return err
		}
		return emit(tx, now, eventAgent, by.actor(), projectID, "", payload{"change": "added", "agentId": id})
	})
	return token, err
}

// RemoveAgent makes an agent's token worthless. It fails with NotFound, and with Forbidden for a person below
// maintainer who did not issue the token.
func (h *Hub) RemoveAgent(by Principal, projectID, id string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	err := h.commitDurablyLocked(func(tx store.Tx) error {
		agents, err := tx.Agents()
		if err != nil {
			return err
		}
		removed := 0
		for _, a := range agents {
			if a.ID != id || projectID != "" && a.Project != projectID {
				continue
			}
			if a.Issuer != by.ID && !by.Role.AtLeast(policy.Maintainer) {
				return forbidden("agent "+id, "its token was issued by somebody else")
			}
			if err := tx.RemoveAgent(a.Project, id); err != nil {
				return err
			}
			if err := emit(tx, now, eventAgent, by.actor(), a.Project, "", payload{"change": "removed", "agentId": id}); err != nil {
				return err
			}
			removed++
		}
		if removed == 0 {
			return store.ErrNone
		}
		return nil
	})
	return missing(err, failure.NotFound, "agent "+printable(id))
}

// AddMember makes a person a member and gives the token, which is told only now. It fails with BadRequest or
// AlreadyExists.
func (h *Hub) AddMember(by Actor, id string, role policy.Role) (token string, err error) {
	if !agentName.MatchString(id) {
		return "", badName(id)
	}
	if !role.AtLeast(policy.Viewer) {
		return "", failure.New(failure.BadRequest, "role").Because("it is viewer, developer, maintainer or owner")
	}
	token = newToken(personPrefix)
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	err = h.commitDurablyLocked(func(tx store.Tx) error {
		switch _, err := tx.Member(id); {
		case err == nil:
			return failure.New(failure.AlreadyExists, "member "+id)
		case !errors.Is(err, store.ErrNone):
			return err
		}
		if err := tx.AddMember(store.Member{ID: id, Workspace: workspaceID, Role: string(role), Token: store.Hash(token), Created: now}); err != nil {
			return err
		}
		return emit(tx, now, eventMember, by, "", "", payload{"change": "added", "memberId": id, "role": role})
	})
	return token, err
}

// SetRole changes a member's role. It fails with NotFound, BadRequest, or LastOwner.
func (h *Hub) SetRole(by Actor, id string, role policy.Role) error {
	if !role.AtLeast(policy.Viewer) {
		return failure.New(failure.BadRequest, "role").Because("it is viewer, developer, maintainer or owner")
	}
	err := h.changeMember(id, role != policy.Owner, func(tx store.Tx, now time.Time) error {
		if err := tx.SetRole(id, string(role)); err != nil {
			return err
		}
		return emit(tx, now, eventMember, by, "", "", payload{"change": "role", "memberId": id, "role": role})
	})
	if err == nil {
		h.reviewAll()
	}
	return err
}

// RemoveMember ends a membership: tokens, browser sessions and agents of that person are worth nothing any more, and
// the daemons that the person paired are cut off. It fails with NotFound or LastOwner.
func (h *Hub) RemoveMember(by Actor, id string) error {
	var daemons []store.Daemon
	err := h.changeMember(id, true, func(tx store.Tx, now time.Time) (err error) {
		if daemons, err = tx.Daemons(); err != nil {
			return err
		}
		if err := tx.RemoveMember(id); err != nil {
			return err
		}
		return emit(tx, now, eventMember, by, "", "", payload{"change": "removed", "memberId": id})
	})
	if err != nil {
		return err
	}
	for _, d := range daemons {
		if d.Owner == id {
			h.dropCredential(d.ID)
		}
	}
	h.reviewAll()
	return nil
}

// changeMember changes a member who exists; without them there has to be another owner if lessens is set.
func (h *Hub) changeMember(id string, lessens bool, f func(store.Tx, time.Time) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	err := h.commitDurablyLocked(func(tx store.Tx) error {
		members, err := tx.Members()
		if err != nil {
			return err
		}
		others, found := 0, false
		for _, m := range members {
			if m.ID == id {
				found = true
			} else if m.Role == string(policy.Owner) {
				others++
			}
		}
		switch {
		case !found:
			return store.ErrNone
		case lessens && others == 0:
			return failure.New(failure.LastOwner, "member "+id)
		}
		return f(tx, time.Now())
	})
	return missing(err, failure.NotFound, "member "+printable(id))
}

// dropCredential cuts the connections that a daemon's credential has opened, and voids its unused tickets.
func (h *Hub) dropCredential(id string) {
	h.tickets.void(id)
	h.mu.Lock()
	var sockets []string
	for _, p := range h.projects {
		if p.runner != nil && p.runner.credential == id {
			sockets = append(sockets, p.runner.socketID)
		}
	}
	h.mu.Unlock()
	for _, s := range sockets {
		h.server.Disconnect(s)
	}
}
