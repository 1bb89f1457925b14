package journal

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
)

// Check looks for damage in the journal of a daemon that does not run, and changes nothing. What its last moments put
// beside the file is not looked at. Failures: fs.ErrNotExist where there is no journal, JournalCorrupt, and
// JournalUnwritable where it can't be read.
func Check(folder string) (err error) {
	path := Path(folder)
	if _, err := os.Stat(path); err != nil {
		return err
	}
	pool, err := sql.Open("sqlite", location(path)+"?mode=ro&immutable=1")
	if err != nil {
		return named(fmt.Errorf("opening the journal: %w", err), path)
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	var word string
	if err := pool.QueryRow("PRAGMA quick_check(1)").Scan(&word); err != nil {
		return named(fmt.Errorf("checking the journal: %w", err), path)
	}
	if word != "ok" {
		return named(damage(word), path)
	}
	return nil
}
