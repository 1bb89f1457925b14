package runner

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"sync"
)

// Key names one action for ever: the same ref of another server, project or event is another action.
type Key struct{ Server, Project, Event, Ref string }

// Known is what the ledger knows of an action that was received.
type Known int

// The states in which a received action can be found.
const (
	KnownNew      Known = iota // not seen before; it is stored now
	KnownRunning               // received before and not finished: do nothing, its result will come
	KnownFinished              // finished before: its result is due for delivery once more
	KnownReused                // the ref was seen with another content
)

// Result is what answers an action: an event of the channel and its payload.
type Result struct {
	Event   string
	Payload json.RawMessage
}

// Due is a result that the server is not known to have read.
type Due struct {
	Key    Key
	Serial uint64 // grows in the order in which results became due
	Result Result
}

// Ledger remembers actions and holds the outbox. Its methods may be called from many goroutines and return quickly.
type Ledger interface {
	// Receive stores the action unless its key is known.
	Receive(Key, [sha256.Size]byte) (Known, error)
	// Finish stores the result of a received action and makes it due.
	Finish(Key, Result) error
	// Due lists the results of a project that are not delivered, in the order in which they became due.
	Due(server, project string) ([]Due, error)
	// Delivered takes a result out of the outbox. A result that became due again since d was listed stays.
	Delivered(d Due) error
}

// Bounds of MemoryLedger. A result is at most 1 MiB by settings.md (output.result) and 32 KiB by default.
const (
	memoryKeys  = 10_000
	memoryBytes = 64 << 20
)

// MemoryLedger is a Ledger that forgets with its process, for the demonstration and for tests. It remembers the last
// 10,000 actions and holds at most 64 MiB of results; beyond that the oldest go first, undelivered ones with a call
// of Dropped.
type MemoryLedger struct {
	// Dropped is told about each result that was given up undelivered. It may be nil.
	Dropped func(Due)

	mu     sync.Mutex // guards what follows
	known  map[Key]*entry
	order  []Key // of receipt, oldest first
	serial uint64
	bytes  int
}

type entry struct {
	digest   [sha256.Size]byte
	finished bool
	serial   uint64 // of the result while it is due, else 0
	result   Result
}

// Receive implements Ledger. Its error is always nil.
func (m *MemoryLedger) Receive(key Key, digest [sha256.Size]byte) (Known, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, there := m.known[key]; there {
		switch {
		case e.digest != digest:
			return KnownReused, nil
		case !e.finished:
			return KnownRunning, nil
		}
		m.serial++
		e.serial = m.serial
		return KnownFinished, nil
	}
	if m.known == nil {
		m.known = map[Key]*entry{}
	}
	m.known[key] = &entry{digest: digest}
	m.order = append(m.order, key)
	m.trimLocked()
	return KnownNew, nil
}

// Finish implements Ledger. Its error is always nil.
func (m *MemoryLedger) Finish(key Key, result Result) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, there := m.known[key]
	if !there || e.finished {
		return nil
	}
	m.serial++
	e.finished, e.serial, e.result = true, m.serial, result
	m.bytes += len(result.Payload)
	m.trimLocked()
	return nil
}

// Due implements Ledger. Its error is always nil.
func (m *MemoryLedger) Due(server, project string) ([]Due, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var due []Due
	for key, e := range m.known {
		if e.serial != 0 && key.Server == server && key.Project == project {
			due = append(due, Due{key, e.serial, e.result})
		}
	}
	slices.SortFunc(due, func(a, b Due) int { return cmp.Compare(a.Serial, b.Serial) })
	return due, nil
}

// Delivered implements Ledger. Its error is always nil.
func (m *MemoryLedger) Delivered(d Due) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, there := m.known[d.Key]; there && e.serial == d.Serial {
		e.serial = 0
	}
	return nil
}

// trimLocked forgets the oldest finished actions until the bounds hold. Running ones are never forgotten: they are
// bounded by the queue.
func (m *MemoryLedger) trimLocked() {
	for i := 0; i < len(m.order) && (len(m.known) > memoryKeys || m.bytes > memoryBytes); {
		key := m.order[i]
		e := m.known[key]
		if !e.finished {
			i++
			continue
		}
		if e.serial != 0 && m.Dropped != nil {
			m.Dropped(Due{key, e.serial, e.result})
		}
		m.bytes -= len(e.result.Payload)
		delete(m.known, key)
		m.order = slices.Delete(m.order, i, i+1)
	}
}
