package exec

import (
	"io"
	"sync"
)

const (
	// outflowLimit is what a terminal's output may hold that nobody has read yet. Up to it, small pieces grow together.
	outflowLimit = 64 << 10
	// outflowPiece is more than one read of a pseudo terminal gives.
	outflowPiece = 8 << 10
)

// outflow is the bounded buffer between a terminal and its reader. A terminal that writes faster than it is read waits.
type outflow struct {
	mu        sync.Mutex // guards what follows
	changed   *sync.Cond
	held      []byte
	ended     bool // nothing more will come
	discarded bool // nobody wants it
}

func newOutflow() *outflow {
	o := new(outflow)
	o.changed = sync.NewCond(&o.mu)
	return o
}

// fill takes all that from has, until its end.
func (o *outflow) fill(from io.Reader) {
	piece := make([]byte, outflowPiece)
	for {
		n, err := from.Read(piece)
		o.put(piece[:n])
		if err != nil {
			o.mu.Lock()
			o.ended = true
			o.mu.Unlock()
			o.changed.Broadcast()
			return
		}
	}
}

func (o *outflow) put(p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.held)+len(p) > outflowLimit && !o.discarded {
		o.changed.Wait()
	}
	if !o.discarded {
		o.held = append(o.held, p...)
		o.changed.Broadcast()
	}
}

// discard drops what is held and whatever comes.
func (o *outflow) discard() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.discarded, o.held = true, nil
	o.changed.Broadcast()
}

func (o *outflow) isFull() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.held) > outflowLimit-outflowPiece
}

func (o *outflow) Read(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.held) == 0 && !o.ended && !o.discarded {
		o.changed.Wait()
	}
	if len(o.held) == 0 {
		return 0, io.EOF
	}
	n := copy(p, o.held)
	o.held = append(o.held[:0], o.held[n:]...)
	o.changed.Broadcast()
	return n, nil
}
