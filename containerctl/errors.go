package containerctl

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"syscall"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"brabo.dev/runner/runner/failure"
)

// named gives an error of the API its name; subject is the container or image that was being touched. What has a
// name keeps it.
func (e *Engine) named(ctx context.Context, err error, subject string) error {
	switch {
	case err == nil:
		return nil
	case failure.As(err) != nil:
		return err
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failure.New(failure.TimedOut, subject).
			Because("%s did not answer before the action's deadline", e.facts.Name).
			Then("see whether the engine is overloaded, then send the action again").Wrap(err)
	case ctx.Err() != nil:
		return failure.New(failure.Cancelled, subject).Wrap(err)
	case isLost(err):
		return failure.New(failure.EngineNotRunning, e.address).
			Because("%s stopped answering while %s was being worked on", e.facts.Name, subject).Wrap(err)
	case strings.Contains(err.Error(), "permission denied while trying to connect"), errors.Is(err, fs.ErrPermission):
		return failure.New(failure.EngineNoPermission, e.address).Wrap(err)
	case isGone(err):
		return failure.New(failure.ContainerGone, subject).Because("it was removed by somebody else").Wrap(err)
	}
	return failure.New(failure.EngineRefused, subject).Because("%s says: %s", e.facts.Name, words(err)).Wrap(err)
}

// isLost reports whether err means that the connection to the engine could not be made or broke.
func isLost(err error) bool {
	if strings.Contains(err.Error(), "permission denied while trying to connect") {
		return false
	}
	return client.IsErrConnectionFailed(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, fs.ErrNotExist)
}

// isGone reports whether err says that there is no such container. Podman says so with another status than 404 while
// it removes one.
func isGone(err error) bool {
	return cerrdefs.IsNotFound(err) || err != nil && strings.Contains(strings.ToLower(err.Error()), "no such container")
}

// words are the engine's own, without what the client puts in front.
func words(err error) string {
	return strings.TrimPrefix(strings.TrimSpace(err.Error()), "Error response from daemon: ")
}
