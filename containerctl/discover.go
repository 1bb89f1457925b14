package containerctl

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// Discovery says where an engine may be looked for. Everything comes from the caller; nothing is read from the
// process's own environment.
type Discovery struct {
	Setting    string   // container.engine, or ""
	Environ    []string // DOCKER_HOST, DOCKER_CONTEXT, DOCKER_CONFIG, DOCKER_CERT_PATH, DOCKER_TLS_VERIFY, PATH
	Home       string   // the person's home folder
	RuntimeDir string   // XDG_RUNTIME_DIR, /run/user/UID where that is not set, or ""
	System     []string // addresses of system-wide sockets; nil: this system's usual ones
}

// Attempt is one place where Discover looked.
type Attempt struct {
	Address string       // unix:///run/docker.sock
	Origin  string       // who named it: "container.engine", "DOCKER_HOST", "docker context colima", "Podman, rootless"
	Failure failure.Name // "" where an engine answered
	Detail  string       // what was seen
}

// String is the attempt on one line, for the list in a failure and for doctor.
func (a Attempt) String() string {
	return fmt.Sprintf("%s (%s): %s", a.Address, a.Origin, a.Detail)
}

// Discover finds the engine: container.engine, then DOCKER_HOST, then the docker context in use, then the other
// contexts and the known sockets of this system and this person (Docker Desktop, rootless Docker, Colima, Podman
// and others). What somebody chose, by the setting, the environment or `docker context use`, is final: when it does
// not answer, no other engine is taken in its place, since the project's container would not be there.
//
// The failure is engine_not_installed, engine_not_running, engine_no_permission, engine_too_old or
// engine_unsupported and lists every attempt. The caller closes the Engine.
func Discover(ctx context.Context, d Discovery) (*Engine, error) {
	candidates, err := d.candidates()
	if err != nil {
		return nil, err
	}
	var tried []Attempt
	for _, c := range candidates {
		e, attempt := d.try(ctx, c)
		tried = append(tried, attempt)
		if e != nil {
			e.tried = tried
			return e, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, summary(candidates, tried)
}

// gravity orders the verdicts: the one that is nearest to a working engine is the one to act on.
var gravity = []failure.Name{
	failure.EngineTooOld, failure.EngineNoPermission, failure.EngineNotRunning, failure.EngineUnsupported,
	failure.EngineNotInstalled,
}

func summary(candidates []candidate, tried []Attempt) error {
	lines := make([]string, len(tried))
	best := Attempt{Address: "container engine", Failure: failure.EngineNotInstalled}
	rank := len(gravity)
	for i, a := range tried {
		lines[i] = a.String()
		if r := slices.Index(gravity, a.Failure); r < rank {
			best, rank = a, r
		}
	}
	subject := best.Address
	if best.Failure == failure.EngineNotInstalled && len(tried) > 1 {
		subject = "container engine"
	}
	f := failure.New(best.Failure, subject)
	f = f.Because("%s; tried: %s", f.Cause, strings.Join(lines, "; "))
	if len(candidates) == 1 && candidates[0].chosen && best.Failure != failure.EngineTooOld {
		f = f.Then("%s; or change %s, whose choice no other engine replaces", f.Next, candidates[0].origin)
	}
	return f
}

func (d Discovery) lookup(name string) string { return variable(d.Environ, name) }
