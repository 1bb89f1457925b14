package containerctl

import (
	"slices"
	"sync"

	"github.com/moby/moby/client"
)

// Engine is one container engine that answered. It is safe for use by many goroutines. Discover makes it, Close
// ends it.
type Engine struct {
	api     *client.Client
	address string
	origin  string
	facts   Facts
	tried   []Attempt
	auth    credentials
	pulls   pulls
	workers workers

	mu      sync.Mutex
	usable  map[string]bool   // images by id that have what a container needs; guarded by mu
	unended map[string][]mark // by container: commands that may still run since the engine was away; guarded by mu
}

func newEngine(api *client.Client, c candidate, facts Facts, d Discovery) *Engine {
	e := &Engine{
		api:     api,
		address: c.address,
		origin:  c.origin,
		facts:   facts,
		auth:    credentials{dir: d.dockerConfigDir(), environ: d.Environ},
		usable:  make(map[string]bool),
		unended: make(map[string][]mark),
	}
	e.pulls.init(e.pullImage)
	return e
}

// Close ends the pulls that still run, waits for them and for commands under way, and closes the connections.
// Containers go on.
func (e *Engine) Close() error {
	e.pulls.close()
	e.workers.close()
	return e.api.Close()
}

// Facts is what the engine said about itself when it was found.
func (e *Engine) Facts() Facts { return e.facts }

// Address is the engine's address, such as unix:///run/docker.sock.
func (e *Engine) Address() string { return e.address }

// Tried lists where Discover looked, this engine last.
func (e *Engine) Tried() []Attempt { return slices.Clone(e.tried) }
