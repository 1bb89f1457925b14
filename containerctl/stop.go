package containerctl

import (
	"context"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// stopGrace is how long a container has between TERM and KILL, in seconds (protocol.md 4.4).
const stopGrace = 10

// Stop stops a project's container. One that is absent or does not run is a success; one that is not ours is
// container_foreign.
func (e *Engine) Stop(ctx context.Context, workspaceDirName string) error {
	name := Name(workspaceDirName)
	c, found, err := e.find(ctx, name)
	if err != nil || !found || !stateOf(c).Running {
		return err
	}
	e.workers.drop(c.ID, name)
	grace := stopGrace
	_, err = e.api.ContainerStop(ctx, c.ID, client.ContainerStopOptions{Timeout: &grace})
	if isGone(err) {
		return nil // removed while we stopped it
	}
	return e.named(ctx, err, name)
}

// Remove removes a project's container with what it holds, running or not. One that is absent is a success; one
// that is not ours is container_foreign. The project folder is never touched.
func (e *Engine) Remove(ctx context.Context, workspaceDirName string) error {
	c, found, err := e.find(ctx, Name(workspaceDirName))
	if err != nil || !found {
		return err
	}
	return e.remove(ctx, stateOf(c))
}

func (e *Engine) remove(ctx context.Context, s State) error {
	e.workers.drop(s.ID, s.Name)
	// With its anonymous volumes: an image that declares some gets them, and nothing else refers to them.
	_, err := e.api.ContainerRemove(ctx, s.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	switch {
	case isGone(err):
		return nil
	case cerrdefs.IsConflict(err): // somebody else is removing it
		return e.awaitRemoval(ctx, s)
	}
	return e.named(ctx, err, s.Name)
}

// awaitRemoval waits until a container that is being removed is gone.
func (e *Engine) awaitRemoval(ctx context.Context, s State) error {
	wait := e.api.ContainerWait(ctx, s.ID, client.ContainerWaitOptions{Condition: container.WaitConditionRemoved})
	select {
	case <-wait.Result:
		return nil
	case err := <-wait.Error:
		if isGone(err) {
			return nil
		}
		return e.named(ctx, err, s.Name)
	}
}
