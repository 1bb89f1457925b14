package containerctl

import (
	"context"
	"errors"
	"time"

	"github.com/moby/moby/api/types/jsonstream"
	"github.com/moby/moby/client"

	"brabo.dev/runner/runner/failure"
)

// pullStalls is how long a pull may go without a sign of life. Docker reports every moment of a download, Podman only
// the end of each layer.
const (
	pullStalls       = 5 * time.Minute
	pullStallsSilent = time.Hour
)

// pullPauses are the waits before a pull is tried again after what may pass by itself.
var pullPauses = []time.Duration{500 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second}

var errStalled = errors.New("no sign of life from the pull")

// pullImage pulls until it worked, failed for good, or failed in passing once more than there are pauses.
func (e *Engine) pullImage(ctx context.Context, image string, report func(Progress)) error {
	for i := 0; ; i++ {
		err := e.pullOnce(ctx, image, report)
		if err == nil {
			return nil
		}
		named, passing := e.pullFault(ctx, err, image)
		if !passing || i == len(pullPauses) {
			return named
		}
		select {
		case <-time.After(pullPauses[i]):
		case <-ctx.Done():
			return named
		}
	}
}

func (e *Engine) pullOnce(ctx context.Context, image string, report func(Progress)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalls := pullStalls
	if e.facts.Name != docker {
		stalls = pullStallsSilent
	}
	watchdog := time.AfterFunc(stalls, func() { cancel(errStalled) })
	defer watchdog.Stop()
	answer, err := e.api.ImagePull(ctx, image, client.ImagePullOptions{RegistryAuth: e.auth.forImage(ctx, image)})
	if err != nil {
		return cause(ctx, err)
	}
	defer answer.Close()
	layers := layers{image: image}
	for m, err := range answer.JSONMessages(ctx) {
		if err != nil {
			return cause(ctx, err)
		}
		watchdog.Reset(stalls)
		if m.Error != nil {
			return m.Error
		}
		if layers.take(m) {
			report(layers.sum())
		}
	}
	return nil
}

// cause gives the reason for which ctx was cancelled in place of the bare cancellation.
func cause(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		return errStalled
	}
	return err
}

// layers sums the progress of an image's layers.
type layers struct {
	image string
	by    map[string]jsonstream.Progress
}

// take notes one message and reports whether it changed the sum.
func (l *layers) take(m jsonstream.Message) bool {
	if m.ID == "" || m.Progress == nil || m.Progress.Total <= 0 || m.Status == "Extracting" {
		return false
	}
	if l.by == nil {
		l.by = make(map[string]jsonstream.Progress)
	}
	l.by[m.ID] = *m.Progress
	return true
}

func (l *layers) sum() Progress {
	p := Progress{Image: l.image}
	for _, layer := range l.by {
		p.Current += layer.Current
		p.Total += layer.Total
	}
	return p
}

// pullFault names why a pull failed and says whether it may pass by itself.
func (e *Engine) pullFault(ctx context.Context, err error, image string) (named error, passing bool) {
	switch {
	case errors.Is(err, errStalled):
		return failure.New(failure.ImagePullStalled, image).Wrap(err), true
	case ctx.Err() != nil:
		return failure.New(failure.Draining, image).Because("the daemon stopped while the image was pulled").Wrap(err), false
	case isLost(err):
		return e.named(ctx, err, image), false
	}
	name, passing := classifyPull(err.Error())
	f := failure.New(name, image).Wrap(err)
	return f.Because("%s; %s says: %s", f.Cause, e.facts.Name, words(err)), passing
}
