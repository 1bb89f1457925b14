package containerctl

import (
	"context"
	"fmt"
	"sync"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"brabo.dev/runner/runner/failure"
)

// Progress is how far a pull has come: bytes of the layers that the registry has announced so far. Total is 0 while
// nothing is known.
type Progress struct {
	Image          string
	Current, Total int64
}

// progressEvery is the shortest time between two reports (protocol.md 12: at most four a second).
const progressEvery = 250 * time.Millisecond

// ensureImage gives the image, which is pulled if the engine lacks it.
func (e *Engine) ensureImage(ctx context.Context, image string, opts StartOptions) (client.ImageInspectResult, error) {
	got, err := e.api.ImageInspect(ctx, image)
	if cerrdefs.IsNotFound(err) {
		if err := e.awaitPull(ctx, image, opts); err != nil {
			return got, err
		}
		got, err = e.api.ImageInspect(ctx, image)
	}
	if cerrdefs.IsNotFound(err) {
		return got, failure.New(failure.ImagePullFailed, image).
			Because("%s says that it was pulled, and then does not have it", e.facts.Name).Wrap(err)
	}
	return got, e.named(ctx, err, image)
}

// awaitPull begins a pull or joins the one that is under way, and waits for its end or for the caller's.
func (e *Engine) awaitPull(ctx context.Context, image string, opts StartOptions) error {
	p, err := e.pulls.join(image)
	if err != nil {
		return err
	}
	defer p.listen(opts.Progress)()
	var late <-chan time.Time
	if !opts.PullDeadline.IsZero() {
		timer := time.NewTimer(time.Until(opts.PullDeadline))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-p.done:
		return p.err
	case <-late:
		return p.inProgress()
	case <-ctx.Done():
		if context.Cause(ctx) == context.DeadlineExceeded {
			return p.inProgress()
		}
		return failure.New(failure.Cancelled, image).Because("the action was cancelled; the pull goes on").Wrap(ctx.Err())
	}
}

// pulls are the pulls under way, one an image. They belong to the Engine and outlive the Start that began them.
type pulls struct {
	fetch  func(ctx context.Context, image string, report func(Progress)) error
	ctx    context.Context // ends with close
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu     sync.Mutex
	active map[string]*pull // guarded by mu
}

func (ps *pulls) init(fetch func(context.Context, string, func(Progress)) error) {
	ps.fetch = fetch
	ps.ctx, ps.cancel = context.WithCancel(context.Background())
	ps.active = make(map[string]*pull)
}

// close ends all pulls and waits for them.
func (ps *pulls) close() {
	ps.mu.Lock()
	ps.cancel()
	ps.mu.Unlock()
	ps.wg.Wait()
}

// join gives the pull of image that is under way, or begins one.
func (ps *pulls) join(image string) (*pull, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if err := ps.ctx.Err(); err != nil {
		return nil, failure.New(failure.Draining, image).Wrap(err)
	}
	if p := ps.active[image]; p != nil {
		return p, nil
	}
	p := &pull{image: image, began: time.Now(), done: make(chan struct{}), listeners: make(map[int]func(Progress))}
	ps.active[image] = p
	ps.wg.Go(func() {
		p.err = ps.fetch(ps.ctx, image, p.report)
		ps.mu.Lock()
		delete(ps.active, image)
		ps.mu.Unlock()
		close(p.done)
	})
	return p, nil
}

// pull is one image on its way.
type pull struct {
	image string
	began time.Time
	done  chan struct{}
	err   error // set before done is closed

	mu        sync.Mutex // guards the rest; held while listeners run, so that none runs after its removal
	last      Progress
	told      time.Time
	next      int
	listeners map[int]func(Progress)
}

func (p *pull) report(now Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = now
	if time.Since(p.told) < progressEvery {
		return
	}
	p.told = time.Now()
	for _, tell := range p.listeners {
		tell(now)
	}
}

// listen adds a listener, which may be nil, and gives the function that removes it.
func (p *pull) listen(tell func(Progress)) (remove func()) {
	if tell == nil {
		return func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	id := p.next
	p.next++
	p.listeners[id] = tell
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.listeners, id)
	}
}

func (p *pull) inProgress() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	so := ""
	if p.last.Total > 0 {
		so = fmt.Sprintf(", %d of %d MiB so far", p.last.Current/mebibyte, p.last.Total/mebibyte)
	}
	f := failure.New(failure.ImagePullInProgress, p.image)
	return f.Because("%s: it began %v ago%s", f.Cause, time.Since(p.began).Round(time.Second), so)
}
