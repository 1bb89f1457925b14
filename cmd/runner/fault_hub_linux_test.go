package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/hub/store"
)

// hubHost is a hub that can be started again at the same address, with what its store kept.
type hubHost struct {
	t         *testing.T
	url, root string
	folder    string
	address   string
	hub       *hub.Hub
	store     *store.Store
	server    *http.Server
	served    chan error
	change    []func(*hub.Config)
}

// startHubHost serves the project "p" in a folder below home. change adapts the configuration of each start.
func startHubHost(t *testing.T, home string, change ...func(*hub.Config)) *hubHost {
	t.Helper()
	s := &hubHost{t: t, root: filepath.Join(home, "project"), folder: filepath.Join(home, "hub"), address: "127.0.0.1:0", change: change}
	s.start()
	s.url = "http://" + s.address
	t.Cleanup(s.stop)
	return s
}

func (s *hubHost) start() {
	s.t.Helper()
	var err error
	if s.store, err = store.Open(s.folder); err != nil {
		s.t.Fatal(err)
	}
	config := hub.Config{
		Store:       s.store,
		Projects:    []hub.Project{{ID: "p", Name: "Shop", Mode: hub.ModeRunner, Root: s.root}},
		Credentials: []hub.Credential{{ID: "token", Project: "p", Token: testToken}},
		Decider:     everyone{}, ActionDeadline: 5 * time.Minute, MaxBody: 1 << 20,
		Hosts: []string{"127.0.0.1"}, Log: slog.New(slog.DiscardHandler),
	}
	for _, c := range s.change {
		c(&config)
	}
	s.hub = hub.New(config)
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.address = listener.Addr().String()
	s.server, s.served = &http.Server{Handler: s.hub}, make(chan error, 1)
	go func() { s.served <- s.server.Serve(listener) }()
}

func (s *hubHost) stop() {
	s.t.Helper()
	s.server.Close()
	<-s.served
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := s.hub.Close(ctx); err != nil {
		s.t.Error(err)
	}
	if err := s.store.Close(); err != nil {
		s.t.Error(err)
	}
}
