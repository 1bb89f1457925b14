// Package hub is the local control plane: what makes the daemon useful with no server.
//
// Agents propose actions; the rules or a person decide; the daemon, joined over the same wire as to any other server,
// executes; the outcome goes back to the proposer. A Hub is an http.Handler for all of it: tickets and the channel for
// daemons, an API for agents and people. What it knows lies in a store, on the disk or in memory; what it holds beside
// that are the connections, who waits, and the environments of commands, which are never stored. Close ends the
// connections and waits for the goroutines.
package hub

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// Decider decides what becomes of a proposal, in place of the rules of policy.md.
type Decider interface {
	Decide(Project, Proposal) (policy.Decision, error)
}

// Config is what a Hub needs. The numbers are those of settings.md.
type Config struct {
	// Store is what the hub knows; nil is a store in memory of the hub's own, which begins with what follows. In a
	// store that is handed in, it is added where it is missing.
	Store    *store.Store
	Projects []Project
	// Credentials may ask for tickets and the list of projects.
	Credentials []Credential
	// PersonToken is that of Person, an owner. AgentToken is that of an agent called `agent`, in every project, issued
	// by Person. An empty one opens no door.
	AgentToken, PersonToken string
	Person                  string // empty: `owner`
	// Decider is nil except in tests.
	Decider Decider
	// ActionDeadline is sent with each action that brings none (hub.action_deadline); zero: 10 minutes.
	ActionDeadline time.Duration
	// OutcomeDeadline bounds the wait for an outcome that the proposer reports (hub.outcome_deadline); zero: 1 hour.
	OutcomeDeadline time.Duration
	// EventsKeep is how long events are kept (hub.events_keep); zero: for ever.
	EventsKeep time.Duration
	// Rate is how many proposals of one agent are taken a second (hub.rate), bursts being four times that; zero: no limit.
	Rate int
	// Hosts are accepted in Host and Origin (hub.hosts), as name or name:port.
	Hosts []string
	// MaxBody bounds a request's body in bytes (hub.body); zero: 8 MiB.
	MaxBody int64
	// WorkspacesRoot holds the managed folders (hub.workspaces_root), ProjectsBase what is mounted (hub.projects_base);
	// empty: mode container has no folder, and mounted folders may lie anywhere.
	WorkspacesRoot, ProjectsBase string
	// Home is the home folder, and Ours the product's own folders, which no project may touch.
	Home string
	Ours []string
	// RefusePeer says why the other end of a connection may not steer, whatever its token. It is asked once a connection,
	// by the first request that would; nil lets everybody.
	RefusePeer func(net.Conn) error
	// RunnerJoins is told of each runner that joins, before it is let in and so before it runs anything; nil: nobody is. The
	// join waits for it.
	RunnerJoins func()
	Log         *slog.Logger
	// PollInterval is how long a machine that logs in waits between two questions, in whole seconds; zero: 5 s.
	PollInterval time.Duration
	// IdleTimeout of the channel; zero: 60 s.
	IdleTimeout time.Duration
}

// Hub is the control plane. Make it with New or Open.
type Hub struct {
	c       Config
	store   *store.Store
	own     bool // the store is the hub's to close
	server  *channel.Server
	handler http.Handler
	tickets tickets
	limits  *limits
	news    bell // rings at each new event and each piece of output
	stop    chan struct{}
	work    sync.WaitGroup // of the goroutine that forgets old events

	mu       sync.Mutex // guards what follows; taken before the store
	projects map[string]*project
	running  map[string]*running          // decided to run, and without an outcome
	envs     map[string]map[string]string // of pending actions, by id
	watches  map[string]*watch            // who waits for an action, by id
	closed   bool
	joins    bell           // rings when a runner joins or confirms its folder
	timers   sync.WaitGroup // of pending deadlines
}

// project is what the hub knows of a project at this moment.
type project struct {
	Project
	runner *runnerLink // nil: none connected
	// open are the running actions that a daemon executes, in the order of the decision.
	open []*running
	// confirmed is the folder that the runner confirmed last.
	confirmed string
	// lost is when the last runner went away; zero if none was ever here.
	lost time.Time
	// rules is held while the project's permissions.json is rewritten.
	rules sync.Mutex
}

// New makes a Hub in memory. It panics where even that can't be had; Open tells instead.
func New(c Config) *Hub {
	h, err := Open(c)
	if err != nil {
		panic("hub.New: " + err.Error())
	}
	return h
}

// Open makes a Hub from what its store knows. Actions that were under way go on: they are sent again after the runner's
// next join. It fails with the store's failures.
func Open(c Config) (*Hub, error) {
	h := &Hub{
		c: withDefaults(c), store: c.Store, stop: make(chan struct{}), limits: newLimits(),
		projects: map[string]*project{}, running: map[string]*running{}, envs: map[string]map[string]string{}, watches: map[string]*watch{},
	}
	if h.store == nil {
		var err error
		if h.store, err = store.Open(""); err != nil {
			return nil, err
		}
		h.own = true
	}
	if err := h.begin(); err != nil {
		if h.own {
			err = errors.Join(err, h.store.Close())
		}
		return nil, err
	}
	h.server = &channel.Server{Connect: h.connect, Join: h.join, CheckOrigin: h.originAllowed, IdleTimeout: c.IdleTimeout, Logger: h.c.Log}
	h.handler = h.routes()
	h.resume()
	h.work.Go(h.forget)
	return h, nil
}

func withDefaults(c Config) Config {
	set := func(d *time.Duration, usual time.Duration) {
		if *d == 0 {
			*d = usual
		}
	}
	set(&c.ActionDeadline, 10*time.Minute)
	set(&c.OutcomeDeadline, time.Hour)
	set(&c.PollInterval, pollInterval)
	if c.MaxBody == 0 {
		c.MaxBody = 8 << 20
	}
	if c.Person == "" {
		c.Person = "owner"
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// ServeHTTP serves the channel and the API, to requests that name the hub's own host and origin.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.handler.ServeHTTP(w, r) }

// Close drops every connection and returns when all goroutines have ended or ctx has. Actions that are under way stay
// so in a store that lives on.
func (h *Hub) Close(ctx context.Context) error {
	h.mu.Lock()
	first := !h.closed
	h.closed = true
	for _, r := range h.running {
		h.stopTimerLocked(r)
	}
	h.mu.Unlock()
	if first {
		close(h.stop)
		h.news.ring() // long polls and streams see that it is over
	}
	err := h.server.Shutdown(ctx)
	h.timers.Wait()
	h.work.Wait()
	if h.own {
		err = errors.Join(err, h.store.Close())
	}
	return err
}

// forgetEvery is how often events are looked at that are older than what is kept.
const forgetEvery = time.Hour

// forget removes old events until the hub stops.
func (h *Hub) forget() {
	if h.c.EventsKeep <= 0 {
		return
	}
	tick := time.NewTicker(forgetEvery)
	defer tick.Stop()
	for {
		before := time.Now().Add(-h.c.EventsKeep)
		if err := h.store.Update(func(tx store.Tx) error { return tx.ForgetEvents(before) }); err != nil {
			h.c.Log.Warn("old events were not removed", "error", err)
		}
		select {
		case <-tick.C:
		case <-h.stop:
			return
		}
	}
}

// bell wakes everybody who waits for something new. The zero value is ready.
type bell struct {
	mu sync.Mutex
	ch chan struct{}
}

// heard gives a channel that is closed at the next ring.
func (b *bell) heard() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
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
