package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/client"
	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/runner/settings"
)

// hubPatience bounds the wait for a hub that a service manager has just started.
const hubPatience = time.Minute

// nearHub is this user's own hub on this machine, asked as its owner.
type nearHub struct{ *client.Client }

// awaitHub finds the hub by the files that it leaves for its owner, and waits until it answers: not every service
// manager knows when a service is ready.
func awaitHub(ctx context.Context, src settings.Sources) (nearHub, error) {
	ctx, cancel := context.WithTimeout(ctx, hubPatience)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		c, err := client.Local(filepath.Join(src.Folders().Data, "hub"))
		if err == nil {
			if c, err = trusted(c); err != nil {
				return nearHub{}, err // waiting does not mend settings
			}
		}
		if err == nil {
			if _, err = c.Me(ctx); err == nil {
				return nearHub{c}, nil
			}
		}
		select {
		case <-ctx.Done():
			return nearHub{}, err
		case <-again.C:
		}
	}
}

// pairedElsewhere refuses to take the place of a pairing with another server. One on this machine may be the hub itself at
// an earlier port, which only the hub can tell.
func pairedElsewhere(store pairing.Store) error {
	p, _, err := store.Load()
	switch {
	case err == nil && !onLoopback(p.Server):
		return otherServer(p)
	case err == nil, failure.Is(err, failure.NotLoggedIn), failure.Is(err, failure.MachineChanged), failure.Is(err, failure.PairingDamaged):
		return store.Ready()
	}
	return err
}

func otherServer(p pairing.Pairing) *failure.Failure {
	return failure.New(failure.Usage, p.Server).
		Because("this machine is paired with that server, and has one pairing").
		Then("keep it with `runner service install`, or give it up with `runner logout` and run `runner up` again")
}

// pair makes sure that this machine is paired with the hub, notes its name there in s, and reports whether that took a
// change. Nobody is asked: who can read the owner's token is the owner.
func (h nearHub) pair(ctx context.Context, store pairing.Store, s *standing) (changed bool, err error) {
	p, _, err := store.Load()
	if err == nil {
		daemons, err := h.Daemons(ctx)
		if err != nil {
			return false, err
		}
		s.Paired = p.Name
		if slices.ContainsFunc(daemons, func(d client.Daemon) bool { return d.ID == p.Key.ID() }) {
			if p.Server == h.URL() {
				return false, nil
			}
			p.Server = h.URL() // the hub moved to another port
			s.changed("found the hub at %s now", h.URL())
			return true, store.Save(p)
		}
		if p.Server != h.URL() {
			return false, usageError(otherServer(p))
		}
	}
	if s.Paired, err = h.pairAnew(ctx, store); err != nil {
		return false, err
	}
	s.changed("paired this machine as %s with the hub at %s", s.Paired, h.URL())
	return true, nil
}

// pairAnew makes a key and has the hub let it in.
func (h nearHub) pairAnew(ctx context.Context, store pairing.Store) (name string, err error) {
	name = machineName()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", fmt.Errorf("making a key: %w", err)
	}
	id, owner, err := h.PairDaemon(ctx, name, store.Machine, public)
	if err != nil {
		return "", err
	}
	err = store.Save(pairing.Pairing{Server: h.URL(), Name: name, Owner: owner, At: time.Now(), Key: pairing.NewKey(private, id)})
	if err != nil {
		// A key that nobody has is let in by nobody.
		return "", errors.Join(err, h.RevokeDaemon(ctx, id))
	}
	return name, nil
}
