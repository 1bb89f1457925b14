// Package hub is the local control plane: what makes the daemon useful with no server.
//
// Agents propose actions; the rules or a person decide; the daemon, joined over the same wire as to any other server,
// executes; the outcome goes back to the proposer. A Hub is an http.Handler for all of it: tickets and the channel for
// daemons, an API for agents and people. This part of it keeps everything in memory. Close ends its connections and
// waits for its goroutines.
package hub

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/policy"
)

// Mode is a project's execution mode (policy.md section 1).
type Mode string

// The modes in which a daemon on the person's machine serves a project.
const (
	ModeMounted Mode = "mounted"
	ModeRunner  Mode = "runner"
)

// Project is a project that the hub knows.
type Project struct {
	ID   string
	Name string
	Mode Mode
	Root string // absolute folder; permissions.json lies in it
}

// Decider decides what becomes of a proposal. It is the seam at which the policy stands.
type Decider interface {
	Decide(Project, Proposal) (policy.Decision, error)
}

// Config is what a Hub needs.
type Config struct {
	Projects []Project
	// Credentials may ask for tickets and the list of projects.
	Credentials []Credential
	// AgentToken proposes and reads; PersonToken decides as well. An empty one opens no door.
	AgentToken, PersonToken string
	// Person is the name under which PersonToken decides.
	Person  string
	Decider Decider
	// ActionDeadline is sent with each command that brings none (settings.md: hub.action_deadline).
	ActionDeadline time.Duration
	// Hosts are accepted in Host and Origin (settings.md: hub.hosts), as name or name:port.
	Hosts []string
	// MaxBody bounds a request's body in bytes (settings.md: hub.body).
	MaxBody int64
	Log     *slog.Logger
	// IdleTimeout of the channel; zero: 60 s.
	IdleTimeout time.Duration
}

// Hub is the control plane. Make it with New.
type Hub struct {
	c       Config
	server  *channel.Server
	handler http.Handler
	tickets tickets

	mu       sync.Mutex // guards what follows
	projects map[string]*project
	actions  map[string]*record
	closed   bool
	joins    chan struct{}  // closed and replaced when a runner joins or confirms its folder
	timers   sync.WaitGroup // of pending deadlines
}

// project is what the hub knows of a project at this moment.
type project struct {
	Project
	runner *runnerLink // nil: none connected
	// open are the actions that were decided to run and have no outcome, in the order of the decision.
	open []*record
	// confirmed is the folder that the runner confirmed last.
	confirmed string
	// lost is when the last runner went away; zero if none was ever here.
	lost time.Time
}

// New makes a Hub.
func New(c Config) *Hub {
	h := &Hub{c: c, projects: map[string]*project{}, actions: map[string]*record{}, joins: make(chan struct{})}
	for _, p := range c.Projects {
		h.projects[p.ID] = &project{Project: p}
	}
	h.server = &channel.Server{Connect: h.connect, Join: h.join, CheckOrigin: h.originAllowed, IdleTimeout: c.IdleTimeout, Logger: c.Log}
	h.handler = h.routes()
	return h
}

// ServeHTTP serves the channel and the API, to requests that name the hub's own host and origin.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.handler.ServeHTTP(w, r) }

// Close drops every connection, fails what waits for a runner, and returns when all goroutines have ended or ctx has.
func (h *Hub) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	for _, r := range h.actions {
		h.stopTimerLocked(r)
	}
	h.mu.Unlock()
	err := h.server.Shutdown(ctx)
	h.timers.Wait()
	return err
}

// DropRunner cuts the connection of the project's runner, as a revoked credential does, and reports whether there
// was one.
func (h *Hub) DropRunner(projectID string) bool {
	h.mu.Lock()
	p := h.projects[projectID]
	var id string
	if p != nil && p.runner != nil {
		id = p.runner.socketID
	}
	h.mu.Unlock()
	return id != "" && h.server.Disconnect(id) > 0
}

// RunnerConnected reports whether a runner has joined the project.
func (h *Hub) RunnerConnected(projectID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.projects[projectID]
	return p != nil && p.runner != nil
}
