package runner

import (
	"context"
	"sync"
)

const (
	// keystrokesLimit is what is kept for a program that does not read: a large paste fits.
	keystrokesLimit = 4 << 20
	// keystrokesPiece is how far pieces of input grow together.
	keystrokesPiece = 64 << 10
	// keystrokesCost is what an entry takes beside its bytes, so that many small ones are bounded as well.
	keystrokesCost = 64
)

// keystrokes is the bounded queue of what goes to a terminal: input and new sizes, in their order. To put something in
// never waits.
type keystrokes struct {
	more chan struct{} // holds one token when there is something

	mu      sync.Mutex // guards what follows
	entries []keystroke
	held    int  // their bytes and costs
	deaf    bool // something was dropped, and nothing more is taken until the rest has gone
}

// keystroke is a piece of input or, where cols is not zero, a size.
type keystroke struct {
	data       []byte
	cols, rows int
}

func newKeystrokes() *keystrokes { return &keystrokes{more: make(chan struct{}, 1)} }

// input keeps data. What does not fit is dropped whole, and so is all that follows until the program has read what is
// there: a paste then lacks its end, and no piece from its middle. first tells the first of such a row.
func (k *keystrokes) input(data []byte) (kept, first bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.deaf && k.held > 0 {
		return false, false
	}
	k.deaf = k.held+len(data)+keystrokesCost > keystrokesLimit && k.held > 0
	if k.deaf {
		return false, true
	}
	if last := len(k.entries) - 1; last >= 0 && k.entries[last].cols == 0 && len(k.entries[last].data)+len(data) <= keystrokesPiece {
		k.entries[last].data = append(k.entries[last].data, data...)
		k.held += len(data)
	} else {
		k.putLocked(keystroke{data: data})
	}
	poke(k.more)
	return true, false
}

// resize keeps a size; of several in a row the last counts. It always fits, or a program that begins to read again would
// show the wrong size for good: no input is taken behind the one entry that is too much, so the next size replaces it.
func (k *keystrokes) resize(cols, rows int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if last := len(k.entries) - 1; last >= 0 && k.entries[last].cols > 0 {
		k.entries[last].cols, k.entries[last].rows = cols, rows
		return
	}
	k.putLocked(keystroke{cols: cols, rows: rows})
	poke(k.more)
}

func (k *keystrokes) putLocked(e keystroke) {
	k.entries = append(k.entries, e)
	k.held += len(e.data) + keystrokesCost
}

// next waits for the next entry; false when ctx has ended.
func (k *keystrokes) next(ctx context.Context) (keystroke, bool) {
	for ctx.Err() == nil {
		k.mu.Lock()
		if len(k.entries) > 0 {
			e := k.entries[0]
			k.entries = k.entries[1:]
			k.held -= len(e.data) + keystrokesCost
			k.mu.Unlock()
			return e, true
		}
		k.entries = nil
		k.mu.Unlock()
		select {
		case <-k.more:
		case <-ctx.Done():
		}
	}
	return keystroke{}, false
}
