package journal

import (
	"context"
	"fmt"

	"brabo.dev/runner/runner/failure"
)

// migrations lead from one version of the schema to the next: the first from an empty file to version 1. What was
// published is never changed, only added to. The version stands in the file's user_version.
var migrations = []string{
	`CREATE TABLE action (
		id        INTEGER PRIMARY KEY AUTOINCREMENT,
		server    TEXT NOT NULL,
		project   TEXT NOT NULL,
		event     TEXT NOT NULL,
		ref       TEXT NOT NULL,
		digest    BLOB NOT NULL,
		text      TEXT NOT NULL,
		request   BLOB,
		secret    INTEGER NOT NULL,
		received  INTEGER NOT NULL,
		deadline  INTEGER,
		begun     INTEGER,
		finished  INTEGER,
		delivered INTEGER,
		process   TEXT,
		serial    INTEGER,
		exit_code INTEGER,
		failure   TEXT,
		UNIQUE (server, project, event, ref)
	) STRICT;
	CREATE TABLE answer (
		id      INTEGER PRIMARY KEY,
		event   TEXT NOT NULL,
		payload BLOB NOT NULL
	) STRICT;
	CREATE INDEX action_due ON action (server, project, serial) WHERE serial IS NOT NULL;
	CREATE INDEX action_unfinished ON action (id) WHERE finished IS NULL;`,
}

// version reads the file's version. It is a JournalNewer where that is above last.
func (j *Journal) version(last int) (int, error) {
	var version int
	if err := j.conn.QueryRowContext(context.Background(), "PRAGMA user_version").Scan(&version); err != nil {
		return 0, fmt.Errorf("reading the journal's version: %w", err)
	}
	if version > last {
		return 0, failure.New(failure.JournalNewer, j.path(fileName)).
			Because("it was written by a newer runner: it has version %d, and this runner knows up to %d", version, last)
	}
	return version, nil
}

// migrate brings the file to the last version of steps, each step with its number in one transaction.
func (j *Journal) migrate(steps []string) error {
	version, err := j.version(len(steps))
	if err != nil {
		return err
	}
	for i := version; i < len(steps); i++ {
		step := fmt.Sprintf("BEGIN IMMEDIATE; %s; PRAGMA user_version = %d; COMMIT", steps[i], i+1)
		if err := j.exec(step); err != nil {
			_ = j.exec("ROLLBACK") // fails where the transaction is over already, which is as good
			return fmt.Errorf("bringing the journal to version %d: %w", i+1, err)
		}
	}
	return nil
}
