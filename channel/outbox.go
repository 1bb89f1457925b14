package channel

import "sync"

// frameCost is added to the size of each waiting frame, so that many small ones
// are bounded too.
const frameCost = 64

// outbox is the bounded queue between whoever pushes to a socket and the
// goroutine that writes to it. Nobody waits to put something in.
type outbox struct {
	limit int           // bytes
	wake  chan struct{} // holds one token when there may be something to take

	mu     sync.Mutex
	frames []outgoing
	size   int
	closed bool
}

func newOutbox(limit int) *outbox {
	return &outbox{limit: limit, wake: make(chan struct{}, 1)}
}

// put queues frames, all or none. An empty queue takes any frame.
func (o *outbox) put(frames ...outgoing) error {
	size := 0
	for _, f := range frames {
		size += len(f.data) + frameCost
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return errOutboxClosed
	}
	if o.size > 0 && o.size+size > o.limit {
		return ErrQueueFull
	}
	o.frames = append(o.frames, frames...)
	o.size += size
	o.signal()
	return nil
}

// take returns the next frame. Without one ok is false, and more says whether
// there can be another.
func (o *outbox) take() (f outgoing, ok, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.frames) == 0 {
		return outgoing{}, false, !o.closed
	}
	f = o.frames[0]
	o.frames[0] = outgoing{}
	o.frames = o.frames[1:]
	if len(o.frames) == 0 {
		o.frames = nil // lets the backing array of a burst go
	}
	o.size -= len(f.data) + frameCost
	return f, true, true
}

// close takes nothing more in. What waits is dropped or still handed out.
func (o *outbox) close(drop bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	if drop {
		o.frames, o.size = nil, 0
	}
	o.signal()
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}
