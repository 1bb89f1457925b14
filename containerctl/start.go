package containerctl

import (
	"context"
	"errors"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"brabo.dev/runner/runner/failure"
)

// The values of container.drift.
const (
	DriftReport = "report" // what differs is listed in Started
	DriftRefuse = "refuse" // what differs is container_drift, and nothing is started
)

// StartOptions is what this machine adds to a Spec.
type StartOptions struct {
	Root  string // the project folder on the host, materialized before
	User  string // container.user: "" for the rule of settings.md, "image", or "uid:gid"
	Drift string // container.drift; "" is DriftReport
	// PullDeadline is when Start answers image_pull_in_progress though the pull goes on; zero: only ctx ends the wait.
	PullDeadline time.Time
	// Progress, when not nil, hears of a pull at most four times a second, from another goroutine but never after
	// Start has returned.
	Progress func(Progress)
}

// Started is a container that runs now.
type Started struct {
	ID, Name  string
	AlreadyUp bool     // it ran before, jaEstavaDePe on the wire
	Drift     []string // one line for each thing in which it differs from the Spec
	Notes     []string // what could not be done though the container runs, for a person to read
}

// startPatience bounds how long Start begins again because somebody else makes or removes the container meanwhile.
// An engine reserves a name before it can say anything about the container.
const startPatience = 15 * time.Second

// Start makes the project's container run. It is idempotent: one that runs is left alone, one that is stopped is
// started as it is, and otherwise one is made, its image pulled if it is absent. A failed Start leaves no container
// that was not there before. The folder and the settings are checked before the engine is asked for anything.
func (e *Engine) Start(ctx context.Context, spec Spec, opts StartOptions) (Started, error) {
	name := Name(spec.WorkspaceDirName)
	if err := checkRoot(opts.Root); err != nil {
		return Started{}, err
	}
	user, err := e.userFor(spec, opts)
	if err != nil {
		return Started{}, err
	}
	for began, pause := time.Now(), 20*time.Millisecond; ; pause = min(2*pause, time.Second) {
		c, found, err := e.find(ctx, name)
		if err != nil {
			return Started{}, err
		}
		var s Started
		if found {
			s, err = e.startExisting(ctx, c, spec, opts)
		} else {
			s, err = e.startNew(ctx, spec, opts, user)
		}
		if !errors.Is(err, errAgain) {
			return s, err
		}
		if time.Since(began) > startPatience {
			return Started{}, failure.New(failure.EngineRefused, name).
				Because("somebody else makes and removes a container of this name all the time").
				Then("see whether a second daemon serves this project")
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done(): // the next question to the engine says so
		}
	}
}

// improperState is what Podman says of a container that somebody else is starting or stopping at this moment.
const improperState = "container state improper"

// errAgain says that the container's state changed under our hands, so that it has to be looked at afresh.
var errAgain = errors.New("the container changed meanwhile")

// startNew pulls, creates, links and starts. What it created is removed again when a later step fails.
func (e *Engine) startNew(ctx context.Context, spec Spec, opts StartOptions, user string) (Started, error) {
	name := Name(spec.WorkspaceDirName)
	image, err := e.ensureImage(ctx, spec.Image, opts)
	if err != nil {
		return Started{}, err
	}
	wanted := createOptions(spec, opts.Root, user)
	if image.Config != nil && image.Config.Healthcheck != nil {
		// It asks about the image's own program, which does not run here. Where there is none it stays unset, since
		// Podman makes a timer of whatever is said about health.
		wanted.Config.Healthcheck = &container.HealthConfig{Test: []string{"NONE"}}
	}
	created, err := e.api.ContainerCreate(ctx, wanted)
	switch {
	case cerrdefs.IsConflict(err), err != nil && strings.Contains(err.Error(), "already in use"):
		return Started{}, errAgain // another daemon was faster
	case cerrdefs.IsNotFound(err):
		return Started{}, failure.New(failure.ImageNotFound, spec.Image).
			Because("it was removed from the engine after it had been found there").Then("send the action again").Wrap(err)
	case err != nil:
		return Started{}, e.createFault(ctx, err, name, opts.Root)
	}
	var notes []string
	if err = e.checkUsable(ctx, created.ID, image, name); err == nil {
		notes, err = e.bringUp(ctx, created.ID, name, opts.Root)
	}
	if errors.Is(err, errAgain) {
		return Started{}, err // somebody else has it in hand already
	}
	if err != nil {
		e.discard(ctx, created.ID)
		return Started{}, err
	}
	if note := e.facts.limitsNote(); note != "" {
		notes = append(notes, note)
	}
	return Started{ID: created.ID, Name: name, Notes: append(notes, created.Warnings...)}, nil
}

// startExisting deals with a container of ours that is there already.
func (e *Engine) startExisting(ctx context.Context, c container.InspectResponse, spec Spec, opts StartOptions) (Started, error) {
	state := stateOf(c)
	switch container.ContainerState(state.Status) {
	case container.StateRemoving:
		if err := e.awaitRemoval(ctx, state); err != nil {
			return Started{}, err
		}
		return Started{}, errAgain
	case container.StateDead: // the engine could not remove it whole; it never runs again
		if err := e.remove(ctx, state); err != nil {
			return Started{}, err
		}
		return Started{}, errAgain
	}
	s := Started{ID: state.ID, Name: state.Name, AlreadyUp: state.Running}
	s.Drift = e.drift(ctx, c, spec, opts.Root)
	if len(s.Drift) > 0 && opts.Drift == DriftRefuse {
		return Started{}, failure.New(failure.ContainerDrift, state.Name).
			Because("the container that is there differs from what was asked for: %s", strings.Join(s.Drift, "; "))
	}
	if state.Status == string(container.StatePaused) {
		if _, err := e.api.ContainerUnpause(ctx, state.ID, client.ContainerUnpauseOptions{}); err != nil {
			return Started{}, e.named(ctx, err, state.Name)
		}
	}
	if state.Running {
		return s, nil
	}
	// One that never ran may be another daemon's that has not made its link yet; to make it twice does no harm.
	root := state.Root
	if root == "" {
		root = opts.Root
	}
	notes, err := e.bringUp(ctx, state.ID, state.Name, root)
	if failure.Is(err, failure.ContainerGone) {
		return Started{}, errAgain
	}
	s.Notes = notes
	return s, err
}

// bringUp puts the link in place and starts the container; to start one that runs already is no error.
func (e *Engine) bringUp(ctx context.Context, id, name, root string) (notes []string, err error) {
	note, err := e.link(ctx, id, name, root)
	if err != nil {
		return nil, err
	}
	if note != "" {
		notes = append(notes, note)
	}
	if _, err := e.api.ContainerStart(ctx, id, client.ContainerStartOptions{}); err != nil {
		if strings.Contains(err.Error(), improperState) {
			return nil, errAgain
		}
		return nil, e.createFault(ctx, err, name, root)
	}
	return notes, nil
}

// createFault names what an engine says when it refuses to make or start a container.
func (e *Engine) createFault(ctx context.Context, err error, name, root string) error {
	text := strings.ToLower(err.Error())
	switch {
	case strings.Contains(text, "container-init binary not found"):
		return failure.New(failure.EngineRefused, name).Because("%s has no init to put into containers: %s", e.facts.Name, words(err)).
			Then("install it (the package is usually called catatonit) and send the action again").Wrap(err)
	case strings.Contains(text, strings.ToLower(root)) && (strings.Contains(text, "bind source path") || strings.Contains(text, "no such file") || strings.Contains(text, "statfs")):
		return failure.New(failure.ContainerRoot, root).
			Because("the engine does not find the folder on its side: it was removed, or the engine runs in a virtual machine that does not share it").
			Then("check that the folder exists and is shared with the engine's virtual machine").Wrap(err)
	case strings.Contains(text, "no space left on device"):
		return failure.New(failure.DiskFull, name).Because("the engine's disk is full").Wrap(err)
	}
	return e.named(ctx, err, name)
}

// cleanupTime bounds what is still done for a caller whose context has ended.
const cleanupTime = 10 * time.Second

// discard removes a container that this Start created and could not bring up. It is not forced: a container that
// another daemon has started meanwhile stays.
func (e *Engine) discard(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	// The failure that led here is what the caller has to hear. One that stays is found by the next Start.
	_, _ = e.api.ContainerRemove(ctx, id, client.ContainerRemoveOptions{RemoveVolumes: true})
}
