package containerctl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/moby/moby/client"
	"github.com/moby/moby/client/pkg/versions"

	"brabo.dev/runner/runner/failure"
)

// probeTime is how long one engine may take to answer; a busy Docker Desktop needs seconds.
const probeTime = 10 * time.Second

// try asks one candidate. The Engine is nil unless it answered and will do.
func (d Discovery) try(ctx context.Context, c candidate) (*Engine, Attempt) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	refused := func(name failure.Name, format string, args ...any) (*Engine, Attempt) {
		return nil, Attempt{Address: c.address, Origin: c.origin, Failure: name, Detail: fmt.Sprintf(format, args...)}
	}
	api, err := c.client()
	if err != nil {
		return refused(failure.EngineUnsupported, "%v", err)
	}
	e, name, detail := d.ask(ctx, api, c)
	if name != "" {
		_ = api.Close() // nothing was kept that could fail to close
		return refused(name, "%s", detail)
	}
	return e, Attempt{Address: c.address, Origin: c.origin, Detail: "answers: " + e.facts.String()}
}

// client makes the API client for the candidate's address without asking the environment for anything.
func (c candidate) client() (*client.Client, error) {
	scheme, _, _ := strings.Cut(c.address, "://")
	switch scheme {
	case "unix", "npipe", "tcp":
	case "ssh":
		return nil, errors.New("an engine behind ssh has another machine's folders; only an engine of this machine can mount the project")
	default:
		return nil, fmt.Errorf("addresses that begin with %q are not known, only unix, npipe and tcp", scheme)
	}
	opts := []client.Opt{client.WithHost(c.address)}
	if scheme == "tcp" && c.tls != "" {
		file := func(name string) string { return filepath.Join(c.tls, name) }
		opts = append(opts, client.WithTLSClientConfig(file("ca.pem"), file("cert.pem"), file("key.pem")))
	}
	return client.New(opts...)
}

var apiVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+$`)

// ask connects, negotiates the API's version and reads the engine's facts.
func (d Discovery) ask(ctx context.Context, api *client.Client, c candidate) (*Engine, failure.Name, string) {
	// The client's own errors no longer hold the errno, so that the first connection is made by hand.
	conn, err := api.Dialer()(ctx)
	if err != nil {
		name, detail := d.dialFault(err, c.programs)
		return nil, name, detail
	}
	_ = conn.Close()
	ping, err := api.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true})
	if err != nil {
		if apiVersion.MatchString(ping.APIVersion) && versions.LessThan(ping.APIVersion, client.MinAPIVersion) {
			return nil, failure.EngineTooOld, fmt.Sprintf("speaks API %s, at least %s is needed", ping.APIVersion, client.MinAPIVersion)
		}
		return nil, failure.EngineNotRunning, fmt.Sprintf("something listens but does not answer as an engine does: %v", err)
	}
	if ping.APIVersion == "" {
		return nil, failure.EngineNotRunning, "what answers is no container engine: it names no API version"
	}
	facts, err := readFacts(ctx, api)
	if err != nil {
		return nil, failure.EngineNotRunning, fmt.Sprintf("answers, but not when asked what it is: %v", err)
	}
	return newEngine(api, c, facts, d), "", ""
}

// dialFault tells by the error of the first connection why there is none.
func (d Discovery) dialFault(err error, programs []string) (failure.Name, string) {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return failure.EngineNoPermission, "no permission to use the socket"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		if d.installed(programs) {
			return failure.EngineNotRunning, "no such socket, though a program of it is in PATH"
		}
		return failure.EngineNotInstalled, "no such socket"
	case errors.Is(err, syscall.ECONNREFUSED):
		return failure.EngineNotRunning, "the socket is there but nobody listens"
	}
	return failure.EngineNotRunning, err.Error()
}
