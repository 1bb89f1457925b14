package containerctl

import (
	"context"
	"fmt"
	"slices"
	"strings"
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

	mu      sync.Mutex
	usable  map[string]bool   // images by id that have what a container needs; guarded by mu
	unended map[string][]mark // by container: commands that may still run since the engine was away; guarded by mu
}

// The names of the engines that are told apart.
const (
	docker = "Docker"
	podman = "Podman"
)

// Facts is what an engine says about itself.
type Facts struct {
	Name     string // "Docker", "Podman"
	Version  string
	API      string // the negotiated version
	Rootless bool
	VM       bool // it runs under another kernel than this process: Docker Desktop, Colima, another machine
}

// String is the facts on one line.
func (f Facts) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s, API %s", f.Name, f.Version, f.API)
	if f.Rootless {
		b.WriteString(", rootless")
	}
	if f.VM {
		b.WriteString(", in a virtual machine")
	}
	return b.String()
}

func readFacts(ctx context.Context, api *client.Client) (Facts, error) {
	info, err := api.Info(ctx, client.InfoOptions{})
	if err != nil {
		return Facts{}, err
	}
	version, err := api.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return Facts{}, err
	}
	f := Facts{
		Name:    docker,
		Version: version.Version,
		API:     api.ClientVersion(),
		Rootless: slices.ContainsFunc(info.Info.SecurityOptions, func(o string) bool {
			return strings.Contains(o, "rootless")
		}),
		VM: info.Info.KernelVersion != localKernel(),
	}
	for _, c := range version.Components {
		if strings.HasPrefix(c.Name, "Podman") {
			f.Name = podman
		}
	}
	return f, nil
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

// Close ends the pulls that still run, waits for them and closes the connections. Containers go on.
func (e *Engine) Close() error {
	e.pulls.close()
	return e.api.Close()
}

// Facts is what the engine said about itself when it was found.
func (e *Engine) Facts() Facts { return e.facts }

// Address is the engine's address, such as unix:///run/docker.sock.
func (e *Engine) Address() string { return e.address }

// Tried lists where Discover looked, this engine last.
func (e *Engine) Tried() []Attempt { return slices.Clone(e.tried) }
