package store

import (
	"database/sql"
	"time"
)

// Daemon is the credential with which a daemon asks for tickets: a device key or a token.
type Daemon struct {
	ID      string // also the kid of a device key
	Name    string // of the machine
	Owner   string // the member who paired it
	Project string // the only project it is for; empty: every project
	Machine string // the id of the machine that it was bound to; empty: none
	Key     []byte // the public Ed25519 key
	Token   []byte // or the Hash of the token

	Created, LastContact, Revoked time.Time // zero: never
}

const daemonColumns = "SELECT id, name, owner, project, machine, key, token, created, last_contact, revoked FROM daemon"

func readDaemon(row scanner) (d Daemon, err error) {
	var created, contact, revoked sql.NullInt64
	err = row.Scan(&d.ID, &d.Name, &d.Owner, &d.Project, &d.Machine, &d.Key, &d.Token, &created, &contact, &revoked)
	d.Created, d.LastContact, d.Revoked = moment(created), moment(contact), moment(revoked)
	return d, err
}

// PutDaemon adds a daemon, or replaces the one with this id.
func (t Tx) PutDaemon(d Daemon) error {
	_, err := t.exec(`INSERT INTO daemon (id, name, owner, project, machine, key, token, created, last_contact, revoked)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET name = excluded.name, owner = excluded.owner,
		project = excluded.project, machine = excluded.machine, key = excluded.key, token = excluded.token,
		created = excluded.created, last_contact = excluded.last_contact, revoked = excluded.revoked`,
		d.ID, d.Name, d.Owner, d.Project, d.Machine, d.Key, d.Token, micros(d.Created), micros(d.LastContact), micros(d.Revoked))
	return err
}

// Daemon finds a daemon by id, a revoked one too.
func (t Tx) Daemon(id string) (Daemon, error) {
	return one(t, readDaemon, daemonColumns+" WHERE id = ?", id)
}

// DaemonByToken finds a daemon by the Hash of its token, a revoked one too.
func (t Tx) DaemonByToken(hash []byte) (Daemon, error) {
	return one(t, readDaemon, daemonColumns+" WHERE token = ?", hash)
}

// Daemons lists all, revoked ones too, in the order of their creation.
func (t Tx) Daemons() ([]Daemon, error) {
	return all(t, readDaemon, daemonColumns+" ORDER BY created, id")
}

// Contacted notes when a daemon was last heard of.
func (t Tx) Contacted(id string, at time.Time) error {
	return t.change("UPDATE daemon SET last_contact = ? WHERE id = ?", micros(at), id)
}

// RevokeDaemon makes a daemon's credential worthless; one that was revoked keeps the time.
func (t Tx) RevokeDaemon(id string, at time.Time) error {
	return t.change("UPDATE daemon SET revoked = coalesce(revoked, ?) WHERE id = ?", micros(at), id)
}

// GitCredential is the owner's for one git host (policy.md section 15).
type GitCredential struct{ Host, Username, Token string }

func readGitCredential(row scanner) (c GitCredential, err error) {
	err = row.Scan(&c.Host, &c.Username, &c.Token)
	return c, err
}

// PutGitCredential sets the credential of a host.
func (t Tx) PutGitCredential(c GitCredential, at time.Time) error {
	_, err := t.exec(`INSERT INTO git_credential (host, username, token, changed) VALUES (?, ?, ?, ?)
		ON CONFLICT (host) DO UPDATE SET username = excluded.username, token = excluded.token, changed = excluded.changed`,
		c.Host, c.Username, c.Token, micros(at))
	return err
}

// GitCredentials lists them by host, tokens included.
func (t Tx) GitCredentials() ([]GitCredential, error) {
	return all(t, readGitCredential, "SELECT host, username, token FROM git_credential ORDER BY host")
}

// RemoveGitCredential forgets the credential of a host.
func (t Tx) RemoveGitCredential(host string) error {
	return t.change("DELETE FROM git_credential WHERE host = ?", host)
}
