package hub

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// workspaceID names the one workspace that a hub has.
const workspaceID = "local"

// localAgent is the agent of Config.AgentToken.
const localAgent = "agent"

// newToken makes a token that says by its beginning what it is for.
func newToken(prefix string) string { return prefix + rand.Text() + rand.Text() }

// Beginnings of tokens. That of a daemon is the contract's (protocol.md 1.3).
const (
	personPrefix = "rnp_"
	agentPrefix  = "rna_"
)

// NewPersonToken makes a token for a person.
func NewPersonToken() string { return newToken(personPrefix) }

// begin adds what the configuration brings to the store, and reads the projects.
func (h *Hub) begin() error {
	now := time.Now()
	return h.store.Update(func(tx store.Tx) error {
		if err := tx.PutWorkspace(store.Workspace{ID: workspaceID, Name: "Local", Created: now}); err != nil {
			return err
		}
		if err := h.beginPeople(tx, now); err != nil {
			return err
		}
		for _, p := range h.c.Projects {
			row := store.Project{ID: p.ID, Workspace: workspaceID, Name: p.Name, Mode: string(p.Mode), Root: p.Root, DirName: cmp.Or(p.DirName, p.ID), AlsoInside: p.AlsoInside, Created: now}
			if err := tx.PutProject(row); err != nil {
				return err
			}
		}
		for _, c := range h.c.Credentials {
			row := store.Daemon{ID: c.ID, Name: c.ID, Owner: h.c.Person, Project: c.Project, Key: c.Key, Created: now}
			if c.Token != "" {
				row.Token = store.Hash(c.Token)
			}
			if err := tx.PutDaemon(row); err != nil {
				return err
			}
		}
		rows, err := tx.Projects()
		for _, row := range rows {
			h.projects[row.ID] = &project{Project: projectOf(row)}
		}
		return err
	})
}

// beginPeople adds the owner, and the agent of the configuration.
func (h *Hub) beginPeople(tx store.Tx, now time.Time) error {
	token := h.c.PersonToken
	if token == "" {
		token = newToken(personPrefix) // nobody learns it, so it opens no door
	}
	switch _, err := tx.Member(h.c.Person); {
	case errors.Is(err, store.ErrNone):
		m := store.Member{ID: h.c.Person, Workspace: workspaceID, Role: string(policy.Owner), Token: store.Hash(token), Created: now}
		if err := tx.AddMember(m); err != nil {
			return err
		}
	case err != nil:
		return err
	case h.c.PersonToken != "":
		if err := tx.SetMemberToken(h.c.Person, store.Hash(token)); err != nil {
			return err
		}
	}
	if h.c.AgentToken == "" {
		return nil
	}
	return tx.PutAgent(store.Agent{ID: localAgent, Token: store.Hash(h.c.AgentToken), Issuer: h.c.Person, Created: now})
}

// resume takes up what was under way when the hub stopped last.
func (h *Hub) resume() {
	var rows []store.Action
	err := h.store.View(func(tx store.Tx) (err error) {
		rows, err = tx.OpenActions()
		return err
	})
	if err != nil {
		h.c.Log.Error("what was under way could not be read", "error", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for _, p := range h.projects {
		if !h.own {
			p.lost = now // the hub was there before, so its runner is taken to be coming back
		}
	}
	for _, row := range rows {
		if err := h.resumeActionLocked(row); err != nil {
			h.c.Log.Error("an action that was under way can't go on", "action", row.ID, "error", err)
		}
	}
}

func (h *Hub) resumeActionLocked(row store.Action) error {
	p, err := proposalOf(row)
	if err != nil {
		return err
	}
	r := &running{Action: row, proposal: p, everSent: row.Sent}
	h.running[row.ID] = r
	h.watchLocked(row.ID).left = row.ProposerKind == kindAgent // nobody waits until somebody asks again
	switch {
	case h.projects[row.Project] == nil:
		return h.endLocked(r, Failed, &Outcome{Failure: failure.New(failure.ProjectNotFound, "project "+row.Project)})
	case row.Env && !row.Sent:
		return h.endLocked(r, Failed, &Outcome{Failure: failure.New(failure.EnvironmentLost, "action "+row.ID)})
	}
	h.startLocked(h.projects[row.Project], r)
	return nil
}

// commitLocked changes the store and tells who listens to the log. The caller holds mu, so that the log is in the order
// of what happened.
func (h *Hub) commitLocked(f func(store.Tx) error) error { return h.told(h.store.Update(f)) }

// commitDurablyLocked is commitLocked for what a person decided.
func (h *Hub) commitDurablyLocked(f func(store.Tx) error) error {
	return h.told(h.store.UpdateDurably(f))
}

func (h *Hub) told(err error) error {
	if err != nil {
		return err
	}
	h.news.ring()
	return nil
}

// missing turns ErrNone into the failure called name about subject.
func missing(err error, name failure.Name, subject string) error {
	if errors.Is(err, store.ErrNone) {
		return failure.New(name, subject)
	}
	if err != nil && failure.As(err) == nil {
		return fmt.Errorf("%s: %w", subject, err)
	}
	return err
}
