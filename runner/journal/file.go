package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

// alone is run on the connection before anything else: no other process may open the file (the daemon is the only
// writer of its state), which spares the shared memory and the locks of each step.
const alone = "PRAGMA locking_mode = EXCLUSIVE"

// setup follows once the file is known to be ours to write. fullfsync is what makes fsync reach the disk on macOS.
const setup = `PRAGMA journal_mode = WAL;
	PRAGMA synchronous = NORMAL;
	PRAGMA fullfsync = ON;
	PRAGMA journal_size_limit = 4194304;
	PRAGMA temp_store = MEMORY`

// makeFolder makes folder, for its owner alone.
func makeFolder(folder string) error {
	err := os.MkdirAll(folder, 0o700)
	if err == nil {
		var info fs.FileInfo
		if info, err = os.Stat(folder); err == nil && info.Mode().Perm()&0o077 != 0 {
			err = os.Chmod(folder, 0o700)
		}
	}
	if err != nil {
		return named(fmt.Errorf("making the journal's folder: %w", err), folder)
	}
	return nil
}

// openFile opens the file, brings it to this version and reads where it stands.
func (j *Journal) openFile() (err error) {
	path := j.path(fileName)
	// SQLite would make the file with the mode of the umask; its side files take over that of the file.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("opening the journal: %w", err)
	}
	if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil {
		return fmt.Errorf("opening the journal: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, j.closeFile())
		}
	}()
	if j.pool, err = sql.Open("sqlite", location(path)); err != nil {
		return fmt.Errorf("opening the journal: %w", err)
	}
	ctx := context.Background()
	if j.conn, err = j.pool.Conn(ctx); err != nil {
		return fmt.Errorf("opening the journal: %w", err)
	}
	if err := j.exec(alone); err != nil {
		return fmt.Errorf("opening the journal: %w", err)
	}
	version, err := j.version(len(migrations))
	if err != nil {
		return err
	}
	if version == 0 { // it can be chosen for an empty file only, and would be written each time
		if err := j.exec("PRAGMA auto_vacuum = INCREMENTAL"); err != nil {
			return fmt.Errorf("opening the journal: %w", err)
		}
	}
	if err := j.exec(setup); err != nil {
		return fmt.Errorf("opening the journal: %w", err)
	}
	if err := j.migrate(migrations); err != nil {
		return err
	}
	if err := j.check(ctx); err != nil {
		return err
	}
	if j.stmts, err = prepare(ctx, j.conn); err != nil {
		return err
	}
	row := j.conn.QueryRowContext(ctx, "SELECT coalesce((SELECT max(serial) FROM action WHERE serial IS NOT NULL), 0), coalesce((SELECT max(id) FROM action), 0)")
	var serial uint64
	if err := row.Scan(&serial, &j.before); err != nil {
		return fmt.Errorf("reading the journal: %w", err)
	}
	// A fresh file must not count from the start: who reads the outbox asks for what is behind the last it saw.
	j.serial = max(j.serial, serial)
	return nil
}

// check looks for damage that would only be met later.
func (j *Journal) check(ctx context.Context) error {
	var word string
	if err := j.conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&word); err != nil {
		return fmt.Errorf("checking the journal: %w", err)
	}
	if word != "ok" {
		return damage(strings.Join(strings.Fields(word), " "))
	}
	return nil
}

// location is path as SQLite takes it, whatever characters it holds.
func location(path string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/… becomes /C:/…
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}

// Path is the file of a journal in folder.
func Path(folder string) string { return filepath.Join(folder, fileName) }
