package runner

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"sync"

	"brabo.dev/runner/runner/journal"
)

// Ledger remembers actions and holds the outbox. *journal.Journal is the one that survives its process. The methods
// may be called from many goroutines; what they promise stands there.
type Ledger interface {
	Receive(journal.Action) (journal.Known, error)
	// Begin returns when it is certain that a later daemon will know that the action may have run.
	Begin(journal.Key) error
	Started(journal.Key, journal.Process) error
	Finish(journal.Key, journal.Result) error
	// Due lists some of what is due above a serial; an empty list means that there is no more.
	Due(server, project string, after uint64) ([]journal.Due, error)
	Delivered(journal.Due) error
	// Waiting counts what is due for a project, or, for an empty one, for all of the server's.
	Waiting(server, project string) (int, error)
	Unfinished() ([]journal.Unfinished, error)
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
	Dropped func(journal.Due)

	mu     sync.Mutex // guards what follows
	known  map[journal.Key]*entry
	order  []journal.Key // of receipt, oldest first
	due    []*entry      // in the order of their serials
	serial uint64        // the last one
	bytes  int
}

type entry struct {
	key      journal.Key
	digest   [sha256.Size]byte
	finished bool
	serial   uint64 // of the result while it is due, else 0
	result   journal.Result
}

// Receive implements Ledger. Its error is always nil.
func (m *MemoryLedger) Receive(a journal.Action) (journal.Known, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, there := m.known[a.Key]; there {
		switch {
		case e.digest != a.Digest:
			return journal.Reused, nil
		case !e.finished:
			return journal.Running, nil
		}
		m.dueLocked(e)
		return journal.Finished, nil
	}
	if m.known == nil {
		m.known = map[journal.Key]*entry{}
	}
	m.known[a.Key] = &entry{key: a.Key, digest: a.Digest}
	m.order = append(m.order, a.Key)
	m.trimLocked()
	return journal.New, nil
}

// Begin implements Ledger: there is no later daemon that could want to know.
func (m *MemoryLedger) Begin(journal.Key) error { return nil }

// Started implements Ledger, as Begin does.
func (m *MemoryLedger) Started(journal.Key, journal.Process) error { return nil }

// Unfinished implements Ledger: nothing is left of an earlier daemon.
func (m *MemoryLedger) Unfinished() ([]journal.Unfinished, error) { return nil, nil }

// Finish implements Ledger. Its error is always nil.
func (m *MemoryLedger) Finish(key journal.Key, result journal.Result) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, there := m.known[key]
	if !there || e.finished {
		return nil
	}
	e.finished, e.result = true, result
	m.bytes += len(result.Payload)
	m.dueLocked(e)
	m.trimLocked()
	return nil
}

// Due implements Ledger. Its error is always nil.
func (m *MemoryLedger) Due(server, project string, after uint64) ([]journal.Due, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var due []journal.Due
	first, _ := m.findLocked(after + 1)
	for _, e := range m.due[first:] {
		if e.key.Server == server && e.key.Project == project {
			due = append(due, journal.Due{Key: e.key, Serial: e.serial, Result: e.result})
		}
	}
	return due, nil
}

// Delivered implements Ledger. Its error is always nil.
func (m *MemoryLedger) Delivered(d journal.Due) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i, there := m.findLocked(d.Serial); there && m.due[i].key == d.Key {
		m.settleLocked(m.due[i])
	}
	return nil
}

// Waiting implements Ledger. Its error is always nil.
func (m *MemoryLedger) Waiting(server, project string) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, e := range m.due {
		if e.key.Server == server && (project == "" || e.key.Project == project) {
			n++
		}
	}
	return n, nil
}

// dueLocked makes e's result due, behind all others.
func (m *MemoryLedger) dueLocked(e *entry) {
	m.settleLocked(e)
	m.serial++
	e.serial = m.serial
	m.due = append(m.due, e)
}

// settleLocked makes e's result no longer due.
func (m *MemoryLedger) settleLocked(e *entry) {
	if i, there := m.findLocked(e.serial); there {
		m.due = slices.Delete(m.due, i, i+1)
	}
	e.serial = 0
}

// findLocked gives where in due the serial stands, or would.
func (m *MemoryLedger) findLocked(serial uint64) (int, bool) {
	return slices.BinarySearchFunc(m.due, serial, func(e *entry, serial uint64) int { return cmp.Compare(e.serial, serial) })
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
			m.Dropped(journal.Due{Key: key, Serial: e.serial, Result: e.result})
		}
		m.settleLocked(e)
		m.bytes -= len(e.result.Payload)
		delete(m.known, key)
		m.order = slices.Delete(m.order, i, i+1)
	}
}
