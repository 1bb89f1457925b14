package hub

import (
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
)

// Numbers of a device authorization (RFC 8628, 3.2 and 3.5).
const (
	grantLife = 10 * time.Minute
	// grantMemory is how long a grant that has expired is remembered, so that the machine is told that it has.
	grantMemory = time.Hour
	// pollInterval is how long a machine waits between two questions, and slowDown what is added when it does not.
	pollInterval = 5 * time.Second
	slowDown     = 5 * time.Second
	// maxGrants bounds how many machines wait at once: anybody who reaches the hub may ask.
	maxGrants = 100
)

// States of a grant.
const (
	grantPending  = "pending"
	grantApproved = "approved"
	grantDenied   = "denied"
)

// userCodeLetters are those of RFC 8628, 6.1: no vowels, so that no words come out, and nothing that looks like another.
const userCodeLetters = "BCDFGHJKLMNPQRSTVWXZ"

// userCodeLength gives 34 bits, which is enough where only an owner may try codes, and only some.
const userCodeLength = 8

// newUserCode makes a code that a person can read and type.
func newUserCode() string {
	var b strings.Builder
	for one := make([]byte, 1); b.Len() < userCodeLength; {
		rand.Read(one) // never fails: crypto/rand ends the process instead
		if n := int(one[0]); n < 256/len(userCodeLetters)*len(userCodeLetters) {
			b.WriteByte(userCodeLetters[n%len(userCodeLetters)])
		}
	}
	return b.String()
}

// normalUserCode is what a person typed as the store has it: case, dashes and blanks don't count. Empty: it can't be a
// code.
func normalUserCode(typed string) string {
	code := strings.Map(func(r rune) rune {
		if strings.ContainsRune(userCodeLetters, r) {
			return r
		}
		return -1
	}, strings.ToUpper(typed))
	if len(code) != userCodeLength {
		return ""
	}
	return code
}

// shownUserCode is a code in two groups.
func shownUserCode(code string) string {
	return code[:userCodeLength/2] + "-" + code[userCodeLength/2:]
}

// beginGrant lets a machine ask to be let in, and gives the code that it alone holds. It fails with BadRequest, and with
// RateLimited where too many ask.
func (h *Hub) beginGrant(name, machine string, key []byte, now time.Time) (deviceCode string, g store.Grant, err error) {
	if err := pairable(name, machine, key); err != nil {
		return "", store.Grant{}, err
	}
	deviceCode = rand.Text() + rand.Text()
	g = store.Grant{
		DeviceCode: store.Hash(deviceCode), UserCode: newUserCode(), Name: name, Machine: machine, Key: key,
		State: grantPending, Interval: h.c.PollInterval, Expires: now.Add(grantLife),
	}
	return deviceCode, g, h.store.Update(func(tx store.Tx) error {
		if err := tx.RemoveGrantsBefore(now.Add(-grantMemory)); err != nil {
			return err
		}
		waiting, err := tx.Grants(now)
		if err != nil {
			return err
		}
		if waiting >= maxGrants {
			return failure.New(failure.RateLimited, "device authorization").Because("%d machines wait to be let in already", waiting).
				Then("wait until their codes have expired")
		}
		return tx.PutGrant(g)
	})
}

// pollGrant is a machine's question whether it is let in by now. A grant that is decided stays so until it expires: an
// answer that was lost is given again, and it holds no secret. pollError is RFC 8628's word, or empty when it is let in.
func (h *Hub) pollGrant(deviceCode string, now time.Time) (g store.Grant, pollError string, err error) {
	err = h.store.Update(func(tx store.Tx) (err error) {
		if g, err = tx.GrantByDeviceCode(store.Hash(deviceCode)); err != nil {
			return err
		}
		since := now.Sub(g.Polled)
		switch {
		case !now.Before(g.Expires):
			pollError = "expired_token"
			return nil
		case g.State == grantApproved:
			return nil
		case g.State == grantDenied:
			pollError = "access_denied"
			return nil
		case !g.Polled.IsZero() && since >= 0 && since < g.Interval*4/5: // the way here may take longer once than the next time
			pollError = "slow_down"
			g.Interval += slowDown
		default:
			pollError = "authorization_pending"
		}
		g.Polled = now
		return tx.PutGrant(g)
	})
	if errors.Is(err, store.ErrNone) {
		return store.Grant{}, "invalid_grant", nil
	}
	return g, pollError, err
}

// grant finds what waits under a code that a person typed. It fails with NotFound.
func (h *Hub) grant(typed string, now time.Time) (g store.Grant, err error) {
	err = h.store.View(func(tx store.Tx) (err error) {
		g, err = openGrant(tx, typed, now)
		return err
	})
	return g, missing(err, failure.NotFound, "code")
}

func openGrant(tx store.Tx, typed string, now time.Time) (store.Grant, error) {
	g, err := tx.GrantByUserCode(normalUserCode(typed))
	if err == nil && !now.Before(g.Expires) {
		err = store.ErrNone
	}
	return g, err
}

// decideGrant lets the machine in that waits under a code, or refuses it, in the name of an owner. One that is decided
// stays as it is. It fails with NotFound.
func (h *Hub) decideGrant(by Principal, typed string, approve bool, now time.Time) (g store.Grant, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	err = h.commitDurablyLocked(func(tx store.Tx) (err error) {
		if g, err = openGrant(tx, typed, now); err != nil || g.State != grantPending {
			return err
		}
		g.DecidedBy = by.ID
		if approve {
			g.State = grantApproved
			g.Daemon, err = addDaemon(tx, now, by, g.Name, g.Machine, g.Key)
		} else {
			g.State = grantDenied
			err = emit(tx, now, eventDaemon, by.actor(), "", "", payload{"change": "refused", "name": g.Name, "fingerprint": Fingerprint(g.Key)})
		}
		if err != nil {
			return err
		}
		return tx.PutGrant(g)
	})
	return g, missing(err, failure.NotFound, "code")
}
