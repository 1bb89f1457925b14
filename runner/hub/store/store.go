package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver

	"brabo.dev/runner/runner/failure"
)

// fileName is the database's name in the hub's folder.
const fileName = "hub.db"

// ErrNone says that there is no such row.
var ErrNone = errors.New("there is no such row")

// errClosed is what every method wraps after Close.
var errClosed = errors.New("the hub's store is closed")

// stopping is the name under which a request meets a closed store: the hub closes it while it ends.
func stopping() error {
	return failure.New(failure.Draining, "hub").Because("the hub is stopping").Then("ask again when it is back").Wrap(errClosed)
}

// setup comes first on the connection. EXCLUSIVE keeps any other process out for as long as the file is open.
const setup = `PRAGMA locking_mode = EXCLUSIVE;
	PRAGMA busy_timeout = 2000;
	PRAGMA foreign_keys = ON;
	PRAGMA recursive_triggers = ON;
	PRAGMA journal_mode = WAL;
	PRAGMA fullfsync = ON;
	PRAGMA journal_size_limit = 4194304;
	PRAGMA temp_store = MEMORY;
	PRAGMA synchronous = NORMAL`

// Store is an open store. Close it when nothing uses it any more.
type Store struct {
	path string // empty: in memory

	mu     sync.Mutex // guards what follows; one transaction runs at a time
	pool   *sql.DB
	conn   *sql.Conn
	stmts  map[string]*sql.Stmt
	closed bool
}

// Open opens the store in folder, which is made where it is missing, for its owner alone; an empty folder is a store
// in memory. It fails with StateLocked, HubStoreNewer, HubStoreDamaged, HubStoreUnwritable or DiskFull.
func Open(folder string) (_ *Store, err error) {
	s := &Store{stmts: map[string]*sql.Stmt{}}
	location := ":memory:"
	if folder != "" {
		if s.path, err = makeFile(folder); err != nil {
			return nil, named(err, filepath.Join(folder, fileName))
		}
		location = address(s.path)
	}
	defer func() {
		if err != nil {
			err = named(errors.Join(err, s.release()), s.path)
		}
	}()
	if s.pool, err = sql.Open("sqlite", location); err != nil {
		return nil, fmt.Errorf("opening the hub's store: %w", err)
	}
	if s.conn, err = s.pool.Conn(context.Background()); err != nil {
		return nil, fmt.Errorf("opening the hub's store: %w", err)
	}
	if err = s.exec(setup); err != nil {
		return nil, fmt.Errorf("opening the hub's store: %w", err)
	}
	if err = s.migrate(migrations); err != nil {
		return nil, err
	}
	return s, s.check()
}

// makeFile makes the folder and the file, for their owner alone: SQLite would take the mode of the umask. Its side
// files take over that of the file.
func makeFile(folder string) (string, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("making the hub's folder: %w", err)
	}
	if err := os.Chmod(folder, 0o700); err != nil {
		return "", fmt.Errorf("making the hub's folder: %w", err)
	}
	path := filepath.Join(folder, fileName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", fmt.Errorf("opening the hub's store: %w", err)
	}
	if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil {
		return "", fmt.Errorf("opening the hub's store: %w", err)
	}
	return path, nil
}

// address is path as SQLite takes it, whatever characters it holds.
func address(path string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/… becomes /C:/…
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}

// check looks for damage that would only be met later, and that the file is ours alone to write.
func (s *Store) check() error {
	var word string
	if err := s.conn.QueryRowContext(context.Background(), "PRAGMA quick_check(1)").Scan(&word); err != nil {
		return fmt.Errorf("checking the hub's store: %w", err)
	}
	if word != "ok" {
		return damage(strings.Join(strings.Fields(word), " "))
	}
	return s.exec("BEGIN IMMEDIATE; COMMIT")
}

// exec runs a text that has no parameters and gives no rows.
func (s *Store) exec(text string) error {
	_, err := s.conn.ExecContext(context.Background(), text)
	return err
}

// Close ends the use of the store. A second call does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.release()
}

func (s *Store) release() error {
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	for _, stmt := range s.stmts {
		errs = append(errs, stmt.Close())
	}
	if s.conn != nil {
		errs = append(errs, s.conn.Close())
	}
	if s.pool != nil {
		errs = append(errs, s.pool.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("closing the hub's store: %w", err)
	}
	return nil
}

// Tx is one transaction. It must not be used after the function that it was given to has returned.
type Tx struct{ s *Store }

// Update runs f in a transaction that is kept if f returns nil. After a power cut the last ones may be lost, always
// whole and never one before a later one.
func (s *Store) Update(f func(Tx) error) error { return s.run("BEGIN IMMEDIATE", f) }

// UpdateDurably is Update that returns only when the transaction is on the disk.
func (s *Store) UpdateDurably(f func(Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return stopping()
	}
	if err := s.exec("PRAGMA synchronous = FULL"); err != nil {
		return named(err, s.path)
	}
	err := s.runLocked("BEGIN IMMEDIATE", f)
	if back := s.exec("PRAGMA synchronous = NORMAL"); err == nil {
		err = named(back, s.path)
	}
	return err
}

// View runs f, which must not change anything.
func (s *Store) View(f func(Tx) error) error { return s.run("BEGIN", f) }

func (s *Store) run(begin string, f func(Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return stopping()
	}
	return s.runLocked(begin, f)
}

func (s *Store) runLocked(begin string, f func(Tx) error) (err error) {
	tx := Tx{s}
	if _, err := tx.exec(begin); err != nil {
		return named(fmt.Errorf("beginning a transaction: %w", err), s.path)
	}
	done := false
	defer func() {
		if !done { // f failed or panicked; ROLLBACK fails only where SQLite has rolled back by itself
			_, _ = tx.exec("ROLLBACK")
		}
	}()
	if err := f(tx); err != nil {
		return named(err, s.path)
	}
	if _, err := tx.exec("COMMIT"); err != nil {
		return named(fmt.Errorf("keeping a transaction: %w", err), s.path)
	}
	done = true
	return nil
}

// statement gives the prepared form of text, which is one of the few that stand in this package.
func (t Tx) statement(text string) (*sql.Stmt, error) {
	if stmt := t.s.stmts[text]; stmt != nil {
		return stmt, nil
	}
	stmt, err := t.s.conn.PrepareContext(context.Background(), text)
	if err != nil {
		return nil, fmt.Errorf("preparing %q: %w", text, err)
	}
	t.s.stmts[text] = stmt
	return stmt, nil
}

func (t Tx) exec(text string, args ...any) (sql.Result, error) {
	stmt, err := t.statement(text)
	if err != nil {
		return nil, err
	}
	return stmt.Exec(args...)
}

// change runs a statement that has to meet at least one row; none is ErrNone.
func (t Tx) change(text string, args ...any) error {
	result, err := t.exec(text, args...)
	if err != nil {
		return fmt.Errorf("changing the hub's store: %w", err)
	}
	n, err := result.RowsAffected()
	if err == nil && n == 0 {
		return ErrNone
	}
	return err
}

// scanner is a row.
type scanner interface{ Scan(into ...any) error }

// one reads a single row; none is ErrNone.
func one[T any](t Tx, read func(scanner) (T, error), text string, args ...any) (T, error) {
	var none T
	stmt, err := t.statement(text)
	if err != nil {
		return none, err
	}
	v, err := read(stmt.QueryRow(args...))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return none, ErrNone
	case err != nil:
		return none, fmt.Errorf("reading the hub's store: %w", err)
	}
	return v, nil
}

// all reads every row.
func all[T any](t Tx, read func(scanner) (T, error), text string, args ...any) ([]T, error) {
	stmt, err := t.statement(text)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.Query(args...)
	if err != nil {
		return nil, fmt.Errorf("reading the hub's store: %w", err)
	}
	defer rows.Close()
	var found []T
	for rows.Next() {
		v, err := read(rows)
		if err != nil {
			return nil, fmt.Errorf("reading the hub's store: %w", err)
		}
		found = append(found, v)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading the hub's store: %w", err)
	}
	return found, nil
}

// micros is t as it is kept; null for the zero time.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// moment is a time as it was kept.
func moment(us sql.NullInt64) time.Time {
	if !us.Valid {
		return time.Time{}
	}
	return time.UnixMicro(us.Int64)
}
