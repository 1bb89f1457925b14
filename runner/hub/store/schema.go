package store

import (
	"context"
	"fmt"

	"brabo.dev/runner/runner/failure"
)

// migrations lead from one version of the schema to the next: the first from an empty file to version 1. What was
// published is never changed, only added to. The version stands in the file's user_version. Times are microseconds
// since 1970.
var migrations = []string{
	`CREATE TABLE workspace (
		id      TEXT PRIMARY KEY,
		name    TEXT NOT NULL,
		created INTEGER NOT NULL
	) STRICT;
	CREATE TABLE member (
		id        TEXT PRIMARY KEY,
		workspace TEXT NOT NULL REFERENCES workspace (id),
		role      TEXT NOT NULL,
		token     BLOB NOT NULL UNIQUE,
		created   INTEGER NOT NULL
	) STRICT;
	CREATE TABLE project (
		id          TEXT PRIMARY KEY,
		workspace   TEXT NOT NULL REFERENCES workspace (id),
		name        TEXT NOT NULL,
		mode        TEXT NOT NULL,
		root        TEXT NOT NULL,
		dir_name    TEXT NOT NULL UNIQUE,
		also_inside TEXT NOT NULL,
		verified    INTEGER,
		activated   INTEGER,
		created     INTEGER NOT NULL
	) STRICT;
	CREATE TABLE agent (
		project TEXT NOT NULL,
		id      TEXT NOT NULL,
		token   BLOB NOT NULL UNIQUE,
		issuer  TEXT NOT NULL,
		created INTEGER NOT NULL,
		PRIMARY KEY (project, id)
	) STRICT;
	CREATE TABLE autonomy (
		project TEXT NOT NULL,
		agent   TEXT NOT NULL,
		type    TEXT NOT NULL,
		mode    TEXT NOT NULL,
		PRIMARY KEY (project, agent, type)
	) STRICT;
	CREATE TABLE daemon (
		id           TEXT PRIMARY KEY,
		name         TEXT NOT NULL,
		owner        TEXT NOT NULL,
		project      TEXT NOT NULL,
		machine      TEXT NOT NULL,
		key          BLOB,
		token        BLOB UNIQUE,
		created      INTEGER NOT NULL,
		last_contact INTEGER,
		revoked      INTEGER
	) STRICT;
	CREATE TABLE action (
		seq           INTEGER PRIMARY KEY AUTOINCREMENT,
		id            TEXT NOT NULL UNIQUE,
		project       TEXT NOT NULL,
		type          TEXT NOT NULL,
		proposer_kind TEXT NOT NULL,
		proposer      TEXT NOT NULL,
		session       TEXT NOT NULL,
		status        TEXT NOT NULL,
		policy        TEXT NOT NULL,
		rule          TEXT NOT NULL,
		reason        TEXT NOT NULL,
		proposal      BLOB NOT NULL,
		pull_request  TEXT,
		env           INTEGER NOT NULL,
		deadline      INTEGER NOT NULL,
		due           INTEGER,
		sent          INTEGER NOT NULL,
		message       BLOB,
		decided_by    TEXT,
		decided       INTEGER,
		rejection     TEXT NOT NULL,
		proposed      INTEGER NOT NULL,
		ended         INTEGER,
		merged        INTEGER NOT NULL,
		outcome       BLOB
	) STRICT;
	CREATE INDEX action_status ON action (status, seq);
	CREATE INDEX action_project ON action (project, seq);
	CREATE INDEX action_type ON action (type, seq);
	CREATE INDEX action_proposer ON action (proposer, seq);
	CREATE INDEX action_pull_request ON action (project, pull_request) WHERE pull_request IS NOT NULL;
	CREATE TABLE event (
		seq        INTEGER PRIMARY KEY AUTOINCREMENT,
		at         INTEGER NOT NULL,
		type       TEXT NOT NULL,
		actor_kind TEXT NOT NULL,
		actor      TEXT NOT NULL,
		project    TEXT NOT NULL,
		session    TEXT NOT NULL,
		payload    BLOB NOT NULL
	) STRICT;
	CREATE INDEX event_type ON event (type, seq);
	CREATE INDEX event_project ON event (project, seq);
	CREATE INDEX event_at ON event (at);
	CREATE TABLE event_horizon (before INTEGER NOT NULL) STRICT;
	INSERT INTO event_horizon VALUES (0);
	CREATE TRIGGER event_stays BEFORE UPDATE ON event BEGIN SELECT raise(ABORT, 'an event is never changed'); END;
	CREATE TRIGGER event_kept BEFORE DELETE ON event WHEN old.at >= (SELECT before FROM event_horizon)
		BEGIN SELECT raise(ABORT, 'an event is never removed before its time'); END;
	CREATE TABLE git_credential (
		host     TEXT PRIMARY KEY,
		username TEXT NOT NULL,
		token    TEXT NOT NULL,
		changed  INTEGER NOT NULL
	) STRICT;
	CREATE TABLE login_code (
		hash    BLOB PRIMARY KEY,
		member  TEXT NOT NULL,
		expires INTEGER NOT NULL
	) STRICT;
	CREATE TABLE browser_session (
		hash    BLOB PRIMARY KEY,
		member  TEXT NOT NULL,
		created INTEGER NOT NULL,
		expires INTEGER NOT NULL
	) STRICT;
	CREATE TABLE device_grant (
		device_code BLOB PRIMARY KEY,
		user_code   TEXT NOT NULL UNIQUE,
		name        TEXT NOT NULL,
		machine     TEXT NOT NULL,
		key         BLOB NOT NULL,
		state       TEXT NOT NULL,
		decided_by  TEXT NOT NULL,
		daemon      TEXT NOT NULL,
		interval    INTEGER NOT NULL,
		polled      INTEGER,
		expires     INTEGER NOT NULL
	) STRICT;
	CREATE TABLE container (
		project TEXT PRIMARY KEY,
		name    TEXT NOT NULL,
		state   TEXT NOT NULL,
		image   TEXT NOT NULL,
		spec    BLOB NOT NULL,
		changed INTEGER NOT NULL
	) STRICT;
	CREATE TABLE task (
		project TEXT NOT NULL,
		id      TEXT NOT NULL,
		status  TEXT NOT NULL,
		changed INTEGER NOT NULL,
		PRIMARY KEY (project, id)
	) STRICT;
	CREATE TABLE merged_pull_request (
		project      TEXT NOT NULL,
		pull_request TEXT NOT NULL,
		action       TEXT NOT NULL,
		PRIMARY KEY (project, pull_request)
	) STRICT;`,
}

// migrate brings the file to the last version of steps, each step with its number in one transaction. A file with a
// higher one is a HubStoreNewer.
func (s *Store) migrate(steps []string) error {
	var version int
	if err := s.conn.QueryRowContext(context.Background(), "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("reading the version of the hub's store: %w", err)
	}
	if version > len(steps) {
		return failure.New(failure.HubStoreNewer, s.path).
			Because("it was written by a newer runner: it has version %d, and this runner knows up to %d", version, len(steps))
	}
	for i := version; i < len(steps); i++ {
		step := fmt.Sprintf("BEGIN IMMEDIATE; %s; PRAGMA user_version = %d; COMMIT", steps[i], i+1)
		if err := s.exec(step); err != nil {
			_ = s.exec("ROLLBACK") // fails where the transaction is over already, which is as good
			return fmt.Errorf("bringing the hub's store to version %d: %w", i+1, err)
		}
	}
	return nil
}
