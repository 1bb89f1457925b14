package runner

import "sync"

// broadcast tells all who wait that something has happened. Its zero value is ready.
type broadcast struct {
	mu   sync.Mutex // guards told
	told chan struct{}
}

// next is closed by the next call of tell.
func (b *broadcast) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.told == nil {
		b.told = make(chan struct{})
	}
	return b.told
}

func (b *broadcast) tell() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.told != nil {
		close(b.told)
	}
	b.told = make(chan struct{})
}
