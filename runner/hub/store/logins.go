package store

import (
	"database/sql"
	"time"
)

// AddLoginCode keeps the Hash of a one-time code that logs a member in until it expires.
func (t Tx) AddLoginCode(hash []byte, member string, now, expires time.Time) error {
	if _, err := t.exec("DELETE FROM login_code WHERE expires <= ?", micros(now)); err != nil {
		return err
	}
	_, err := t.exec("INSERT INTO login_code (hash, member, expires) VALUES (?, ?, ?)", hash, member, micros(expires))
	return err
}

// UseLoginCode uses a code up and gives its member; ErrNone for one that is unknown, used or expired.
func (t Tx) UseLoginCode(hash []byte, now time.Time) (member string, err error) {
	if _, err := t.exec("DELETE FROM login_code WHERE expires <= ?", micros(now)); err != nil {
		return "", err
	}
	return one(t, readText, "DELETE FROM login_code WHERE hash = ? RETURNING member", hash)
}

func readText(row scanner) (text string, err error) {
	err = row.Scan(&text)
	return text, err
}

// AddBrowserSession keeps the Hash of a cookie that stands for a member until it expires.
func (t Tx) AddBrowserSession(hash []byte, member string, now, expires time.Time) error {
	if _, err := t.exec("DELETE FROM browser_session WHERE expires <= ?", micros(now)); err != nil {
		return err
	}
	_, err := t.exec("INSERT INTO browser_session (hash, member, created, expires) VALUES (?, ?, ?, ?)", hash, member, micros(now), micros(expires))
	return err
}

// MemberBySession finds the member for whom a cookie stands.
func (t Tx) MemberBySession(hash []byte, now time.Time) (Member, error) {
	return one(t, readMember, `SELECT m.id, m.workspace, m.role, m.token, m.created FROM browser_session s JOIN member m ON m.id = s.member
		WHERE s.hash = ? AND s.expires > ?`, hash, micros(now))
}

// RemoveBrowserSession ends a browser session; one that is gone already is as good.
func (t Tx) RemoveBrowserSession(hash []byte) error {
	_, err := t.exec("DELETE FROM browser_session WHERE hash = ?", hash)
	return err
}

// Grant is a device authorization under way (RFC 8628).
type Grant struct {
	DeviceCode []byte // its Hash
	UserCode   string
	Name       string // of the machine
	Machine    string // its id
	Key        []byte // the public Ed25519 key to be paired
	State      string // the caller's word
	DecidedBy  string
	Daemon     string // the id that an approval gave
	Interval   time.Duration
	Polled     time.Time // zero: never
	Expires    time.Time
}

const grantColumns = `SELECT device_code, user_code, name, machine, key, state, decided_by, daemon, interval, polled, expires FROM device_grant`

func readGrant(row scanner) (g Grant, err error) {
	var polled, expires sql.NullInt64
	err = row.Scan(&g.DeviceCode, &g.UserCode, &g.Name, &g.Machine, &g.Key, &g.State, &g.DecidedBy, &g.Daemon, &g.Interval, &polled, &expires)
	g.Polled, g.Expires = moment(polled), moment(expires)
	return g, err
}

// PutGrant adds a grant, or replaces the one with this device code.
func (t Tx) PutGrant(g Grant) error {
	_, err := t.exec(`INSERT INTO device_grant (device_code, user_code, name, machine, key, state, decided_by, daemon, interval, polled, expires)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (device_code) DO UPDATE SET state = excluded.state,
		decided_by = excluded.decided_by, daemon = excluded.daemon, interval = excluded.interval, polled = excluded.polled`,
		g.DeviceCode, g.UserCode, g.Name, g.Machine, g.Key, g.State, g.DecidedBy, g.Daemon, int64(g.Interval), micros(g.Polled), micros(g.Expires))
	return err
}

// GrantByDeviceCode finds a grant by the Hash of the code that the device holds.
func (t Tx) GrantByDeviceCode(hash []byte) (Grant, error) {
	return one(t, readGrant, grantColumns+" WHERE device_code = ?", hash)
}

// GrantByUserCode finds a grant by the code that a person types.
func (t Tx) GrantByUserCode(code string) (Grant, error) {
	return one(t, readGrant, grantColumns+" WHERE user_code = ?", code)
}

// RemoveGrant removes a grant that was used up.
func (t Tx) RemoveGrant(deviceCode []byte) error {
	return t.change("DELETE FROM device_grant WHERE device_code = ?", deviceCode)
}

// Grants counts those that are not expired.
func (t Tx) Grants(now time.Time) (n int, err error) {
	return one(t, func(row scanner) (n int, err error) {
		err = row.Scan(&n)
		return n, err
	}, "SELECT count(*) FROM device_grant WHERE expires > ?", micros(now))
}

// RemoveGrantsBefore removes the grants that expired before at.
func (t Tx) RemoveGrantsBefore(at time.Time) error {
	_, err := t.exec("DELETE FROM device_grant WHERE expires < ?", micros(at))
	return err
}
