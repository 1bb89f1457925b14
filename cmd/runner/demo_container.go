package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"brabo.dev/runner/containerctl"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
)

// engineTimeout bounds the search for a container engine: the demonstration goes on without one.
const engineTimeout = 5 * time.Second

// containerSteps are the life of a project container. Where no engine answers, or none of its images will do, each
// is skipped by name: the demonstration pulls nothing.
func (s *stage) containerSteps(ctx context.Context) []step {
	image, why := s.findImage(ctx)
	life := []step{
		{name: "starts a container", play: func(ctx context.Context) (hub.Action, string, error) { return s.startsContainer(ctx, image) }},
		{name: "runs inside it", play: s.runsInside},
		{name: "stops it", play: s.stopsContainer},
		{name: "removes it", play: s.removesContainer},
	}
	if why == "" {
		return life
	}
	for i := range life {
		life[i].play, life[i].skipped = nil, why
	}
	return life
}

// findImage gives an image that is there already, or why there is none.
func (s *stage) findImage(ctx context.Context) (image, why string) {
	ctx, cancel := context.WithTimeout(ctx, engineTimeout)
	defer cancel()
	engine, err := s.discover(ctx)
	if err != nil {
		return "", inShort(failure.From(err, "container engine"))
	}
	defer engine.Close()
	if image, err = engine.PlainImage(ctx); err != nil {
		return "", inShort(failure.From(err, engine.Address()))
	}
	if image == "" {
		return "", fmt.Sprintf("%s answers at %s and has none of the small images (busybox, alpine, debian, ubuntu, with a tag)", engine.Facts().Name, engine.Address())
	}
	return image, ""
}

// inShort is a failure's name and cause, without the list of all that was tried.
func inShort(f *failure.Failure) string {
	cause, _, _ := strings.Cut(f.Cause, ";")
	return fmt.Sprintf("%s: %s", f.Name, cause)
}

func (s *stage) startsContainer(ctx context.Context, image string) (hub.Action, string, error) {
	a, err := s.propose(ctx, hub.Proposal{Type: "container_start", Container: &hub.ContainerSpec{Image: image}})
	if err != nil {
		return a, "", err
	}
	if a.Status != hub.Executed || a.Outcome.AlreadyUp {
		return a, "", mismatch(a, "executed with a new container")
	}
	s.cleanUp = func(ctx context.Context) error { return s.forceRemove(ctx) }
	return a, fmt.Sprintf("%s from %s, with the project at %s, no network, no privileges", a.Outcome.Container, image, containerctl.MountPoint), nil
}

func (s *stage) runsInside(ctx context.Context) (hub.Action, string, error) {
	a, err := s.propose(ctx, hub.Proposal{Command: "pwd && ls"})
	if err != nil {
		return a, "", err
	}
	if a.Status != hub.Executed || a.Outcome.Output[:min(len(a.Outcome.Output), 6)] != containerctl.MountPoint+"\n" {
		return a, "", mismatch(a, "executed in the container")
	}
	return a, fmt.Sprintf("`%s` ran in the container and saw the project at %s", a.Command, containerctl.MountPoint), nil
}

func (s *stage) stopsContainer(ctx context.Context) (hub.Action, string, error) {
	a, err := s.propose(ctx, hub.Proposal{Type: "container_stop"})
	if err != nil {
		return a, "", err
	}
	if a.Status != hub.Executed {
		return a, "", mismatch(a, "executed")
	}
	return a, "stopped; commands run on the host again", nil
}

func (s *stage) removesContainer(ctx context.Context) (hub.Action, string, error) {
	a, err := s.propose(ctx, hub.Proposal{Type: "container_remove"})
	if err != nil {
		return a, "", err
	}
	if a.Status != hub.Executed || a.DecidedBy == nil {
		return a, "", mismatch(a, "executed after a person's yes")
	}
	s.cleanUp = nil
	return a, "removed, after a yes: removing always asks", nil
}

// forceRemove takes away the container of a story that broke off.
func (s *stage) forceRemove(ctx context.Context) error {
	engine, err := s.discover(ctx)
	if err != nil {
		return err
	}
	return errors.Join(engine.Remove(ctx, demoProject), engine.Close())
}
