package runner

import (
	"context"
	"sync"
)

// keyLock lets one at a time in for each name. The zero value is empty.
type keyLock struct {
	mu     sync.Mutex // guards what follows
	inside map[string]chan struct{}
}

// enter waits until nobody else is in for name. release lets the next one in; it is called once.
func (o *keyLock) enter(ctx context.Context, name string) (release func(), err error) {
	for {
		o.mu.Lock()
		left, taken := o.inside[name]
		if !taken {
			if o.inside == nil {
				o.inside = map[string]chan struct{}{}
			}
			left = make(chan struct{})
			o.inside[name] = left
			o.mu.Unlock()
			return func() {
				o.mu.Lock()
				delete(o.inside, name)
				o.mu.Unlock()
				close(left)
			}, nil
		}
		o.mu.Unlock()
		select {
		case <-left:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
