package containerctl

import (
	"context"
	"path"
	"slices"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"brabo.dev/runner/runner/failure"
)

// defaultPath is where engines look for programs when an image does not say.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// checkUsable makes sure that a container which was made from image can stay alive and run commands. Under an init
// an engine reports a start without `sleep` as a success, and the container is dead a moment later. An image that
// passed is not asked again: what its id stands for never changes.
func (e *Engine) checkUsable(ctx context.Context, id string, image client.ImageInspectResult, name string) error {
	e.mu.Lock()
	known := e.usable[image.ID]
	e.mu.Unlock()
	if known {
		return nil
	}
	searched := defaultPath
	if image.Config != nil {
		if p := variable(image.Config.Env, "PATH"); p != "" {
			searched = p
		}
	}
	dirs := strings.Split(searched, ":")
	// Nearly every image has it in /bin, which most have last in their PATH.
	slices.Reverse(dirs)
	sleep := slices.ContainsFunc(dirs, func(dir string) bool { return e.has(ctx, id, path.Join(dir, "sleep")) })
	if !sleep && ctx.Err() == nil {
		return failure.New(failure.ImageUnusable, name).Because("the image has no `sleep`, which keeps the container alive")
	}
	if !e.has(ctx, id, shell) && ctx.Err() == nil {
		return failure.New(failure.ImageUnusable, name).Because("the image has no %s to run commands with", shell)
	}
	if ctx.Err() != nil {
		return e.named(ctx, ctx.Err(), name)
	}
	e.mu.Lock()
	e.usable[image.ID] = true
	e.mu.Unlock()
	return nil
}

// has reports whether a path exists in a container. Where the engine does not say, it is taken to be there: the
// start will show.
func (e *Engine) has(ctx context.Context, id, p string) bool {
	_, err := e.api.ContainerStatPath(ctx, id, client.ContainerStatPathOptions{Path: p})
	return !cerrdefs.IsNotFound(err)
}
