package journal

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"brabo.dev/runner/runner/failure"
)

// Names of the files in the journal's folder.
const (
	fileName    = "journal.db"
	lockName    = "journal.lock"
	reserveName = "journal.reserve"
)

// Options say where the journal lies and how much it keeps. The numbers are those of settings.md.
type Options struct {
	// Folder holds the journal's files. It is made with mode 0700, and so kept.
	Folder string
	// Keep is how long an action is remembered (journal.keep), counted from its receipt.
	Keep time.Duration
	// Size in bytes is what the file may hold (journal.size). Unfinished actions are kept beyond it.
	Size int64
	// Reserve in bytes is set aside for the results of running actions when the disk is full (journal.reserve).
	Reserve int64
	// Now is the wall clock; nil is time.Now.
	Now func() time.Time
	// Log may be nil.
	Log *slog.Logger
	// Dropped is told about each result that was given up undelivered, without its payload, after it was logged. It
	// may be nil, and may call the journal.
	Dropped func(Due)
}

// Journal is an open journal. Close it when nothing uses it any more.
type Journal struct {
	o    Options
	log  *slog.Logger
	lock *os.File

	mu       sync.Mutex // guards what follows; SQLite is used by one caller at a time
	replaced *failure.Failure
	open     map[Key]mark // what was received here and is not finished
	pool     *sql.DB
	conn     *sql.Conn
	stmts    statements
	closed   bool
	serial   uint64 // the last one given
	before   int64  // ids up to this one are of earlier daemons
	trimmed  trimState
	reserved reserve
}

// mark is what has to outlive the file of an action that is not finished.
type mark struct {
	digest [sha256.Size]byte
	begun  bool
}

// Open opens the journal in o.Folder and makes it where there is none. A file that can't be read is moved aside and a
// fresh one started, now or when the damage is met; see Replaced. Failures: StateLocked, JournalNewer, JournalUnwritable, DiskFull.
func Open(o Options) (_ *Journal, err error) {
	j := &Journal{o: o, log: o.Log, open: map[Key]mark{}}
	if j.log == nil {
		j.log = slog.New(slog.DiscardHandler)
	}
	if j.o.Now == nil {
		j.o.Now = time.Now
	}
	if err := makeFolder(o.Folder); err != nil {
		return nil, err
	}
	if j.lock, err = lockFolder(o.Folder); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, j.release())
		}
	}()
	if err = j.load(); err != nil {
		return nil, named(err, j.path(fileName))
	}
	j.reserved = reserve{path: j.path(reserveName), size: o.Reserve}
	if err := j.reserved.restore(j.o.Now()); err != nil {
		j.log.Warn("no room could be set aside for the results of running actions; new ones are refused until there is", "error", err)
	}
	j.tell(j.trimOrWarnLocked())
	return j, nil
}

// Replaced tells of the last file that could not be read and was moved aside; nil where all was well. It is a
// JournalCorrupt.
func (j *Journal) Replaced() *failure.Failure {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.replaced
}

// Short is a DiskFull while the reserve is used up or can't be filled: new actions are refused. Otherwise it is nil.
func (j *Journal) Short() *failure.Failure {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.reserved.held {
		return nil
	}
	return j.reserved.missing()
}

// Close ends the use of the journal. A second call does nothing.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.release()
}

// release closes what is open, the lock last.
func (j *Journal) release() error {
	if j.closed {
		return nil
	}
	j.closed = true
	return errors.Join(j.closeFile(), j.lock.Close())
}

func (j *Journal) closeFile() error {
	var errs []error
	if j.conn != nil {
		errs = append(errs, j.stmts.close(), j.conn.Close())
		j.conn = nil
	}
	if j.pool != nil {
		errs = append(errs, j.pool.Close())
		j.pool = nil
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("closing the journal: %w", err)
	}
	return nil
}

func (j *Journal) path(name string) string { return filepath.Join(j.o.Folder, name) }

// exec runs a statement that has no parameters and gives no rows.
func (j *Journal) exec(text string) error {
	_, err := j.conn.ExecContext(context.Background(), text)
	return err
}

// tell reports the results that were given up. The caller does not hold mu.
func (j *Journal) tell(dropped []Due) {
	for _, d := range dropped {
		j.log.Warn("a result was given up", "server", d.Key.Server, "project", d.Key.Project, "event", d.Key.Event,
			"failure", failure.New(failure.ResultDropped, "action "+d.Key.Ref))
		if j.o.Dropped != nil {
			j.o.Dropped(d)
		}
	}
}
