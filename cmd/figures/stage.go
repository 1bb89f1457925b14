package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// projectID is the one project of the story.
const projectID = "figures"

// stage is a hub on loopback with its store on the disk, that can be stopped and started again at the same address.
type stage struct {
	folder  string // of the store
	root    string // of the project
	token   string // that a client joins with
	person  string // the token of who sits at the terminal
	address string

	hub    *hub.Hub
	store  *store.Store
	server *http.Server
	served chan error
}

// allowed lets every proposal pass: the story measures clients, not rules.
type allowed struct{}

func (allowed) Decide(hub.Project, hub.Proposal) (policy.Decision, error) {
	return policy.Decision{Policy: policy.AutoApprove, Rule: "file_allow", Reason: "the story allows it"}, nil
}

func newStage(folder string) *stage {
	return &stage{
		folder: filepath.Join(folder, "hub"), root: filepath.Join(folder, "home", "project"),
		token: "brb_" + rand.Text() + rand.Text(), person: rand.Text(), address: "127.0.0.1:0",
	}
}

func (s *stage) start() (err error) {
	if s.store, err = store.Open(s.folder); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		return errors.Join(err, s.store.Close())
	}
	s.address = listener.Addr().String()
	s.hub = hub.New(hub.Config{
		Store:          s.store,
		Projects:       []hub.Project{{ID: projectID, Name: "Figures", Mode: hub.ModeMounted, Root: s.root}},
		Credentials:    []hub.Credential{{ID: "figures", Project: projectID, Token: s.token}},
		Decider:        allowed{},
		Person:         "figures",
		PersonToken:    s.person,
		ActionDeadline: 5 * time.Minute,
		Hosts:          []string{s.address},
		Log:            slog.New(slog.DiscardHandler),
	})
	s.server, s.served = &http.Server{Handler: s.hub, ReadHeaderTimeout: time.Minute}, make(chan error, 1)
	go func() { s.served <- s.server.Serve(listener) }()
	return nil
}

func (s *stage) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := errors.Join(s.hub.Close(ctx), s.server.Close())
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return errors.Join(err, s.store.Close())
}

// command proposes one and waits for its outcome.
func (s *stage) command(ctx context.Context, text string) error {
	a, err := s.hub.Propose(hub.Proposal{ProjectID: projectID, Type: "terminal", Command: text})
	if err != nil {
		return err
	}
	if a, err = s.hub.Wait(ctx, a.ID); err != nil {
		return err
	}
	if a.Status != hub.Executed {
		return fmt.Errorf("%s ended as %s: %+v", text, a.Status, a.Outcome)
	}
	return nil
}
