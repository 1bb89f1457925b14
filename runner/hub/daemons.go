package hub

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strings"
	"time"
	"unicode"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// longestMachine bounds the name of a machine and its id, in bytes.
const longestMachine = 200

// AddDaemon lets the daemon with a public key in, in the name of a person who has just shown who they are, and gives the
// id of its credential, which is the kid of its key. machine binds it to one machine; empty: to none. It is the way for
// a machine whose owner's token is at hand; others ask for a grant. A key that the person has let in before keeps its
// id. It fails with BadRequest.
func (h *Hub) AddDaemon(by Principal, name, machine string, key ed25519.PublicKey) (id string, err error) {
	if err := pairable(name, machine, key); err != nil {
		return "", err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	err = h.commitDurablyLocked(func(tx store.Tx) error {
		id, err = addDaemon(tx, now, by, name, machine, key)
		return err
	})
	return id, err
}

// addDaemon is AddDaemon within a transaction.
func addDaemon(tx store.Tx, now time.Time, by Principal, name, machine string, key ed25519.PublicKey) (id string, err error) {
	known, err := tx.Daemons()
	if err != nil {
		return "", err
	}
	d := store.Daemon{ID: rand.Text(), Name: name, Owner: by.ID, Machine: machine, Key: key, Created: now}
	for _, k := range known {
		if k.Owner == by.ID && k.Project == "" && k.Revoked.IsZero() && bytes.Equal(k.Key, key) {
			d.ID, d.Created, d.LastContact = k.ID, k.Created, k.LastContact
		}
	}
	if err := tx.PutDaemon(d); err != nil {
		return "", err
	}
	return d.ID, emit(tx, now, eventDaemon, by.actor(), "", "", payload{
		"change": "paired", "daemonId": d.ID, "name": name, "fingerprint": Fingerprint(key),
	})
}

// pairable says what is wrong with a machine that asks to be let in. Its name is shown to the person who decides, so
// that it must not be able to look like something else.
func pairable(name, machine string, key []byte) error {
	f := failure.New(failure.BadRequest, "daemon")
	strange := func(r rune) bool { return !unicode.IsPrint(r) }
	switch {
	case len(key) != ed25519.PublicKeySize:
		return f.Because("its public key is one of Ed25519, 32 bytes in base64url")
	case strings.TrimSpace(name) == "", len(name) > longestMachine, strings.ContainsFunc(name, strange):
		return f.Because("a machine's name has up to %d bytes, all of which can be printed", longestMachine)
	case len(machine) > longestMachine, strings.ContainsFunc(machine, strange):
		return f.Because("a machine's id has up to %d bytes, all of which can be printed", longestMachine)
	}
	return nil
}

func (h *Hub) postDaemon(w http.ResponseWriter, r *http.Request, who Principal) {
	var body struct {
		Name    string `json:"name"`
		Machine string `json:"machine"`
		Key     string `json:"key"` // as x of a JWK
	}
	err := h.read(w, r, &body)
	var id string
	if err == nil {
		// What is no base64url is no key, either.
		key, _ := base64.RawURLEncoding.DecodeString(body.Key)
		id, err = h.AddDaemon(who, body.Name, body.Machine, key)
	}
	answer(w, http.StatusCreated, map[string]string{"id": id, "owner": who.ID}, err)
}

// RevokeDaemon makes a daemon's credential worthless and cuts its connections. It fails with NotFound, and with
// Forbidden for a person below maintainer who did not pair it.
func (h *Hub) RevokeDaemon(by Principal, id string) error {
	return h.revokeDaemon(id, by.actor(), "revoked", func(d store.Daemon) error {
		if d.Owner != by.ID && !by.Role.AtLeast(policy.Maintainer) {
			return forbidden("daemon "+id, "it was paired by somebody else")
		}
		return nil
	})
}

// revokeDaemon is RevokeDaemon for whom may lets; nil: it may be. change is the event's word for it.
func (h *Hub) revokeDaemon(id string, by Actor, change string, may func(store.Daemon) error) error {
	h.mu.Lock()
	now := time.Now()
	err := h.commitDurablyLocked(func(tx store.Tx) error {
		d, err := tx.Daemon(id)
		if err == nil && may != nil {
			err = may(d)
		}
		if err != nil {
			return err
		}
		if err := tx.RevokeDaemon(id, now); err != nil {
			return err
		}
		return emit(tx, now, eventDaemon, by, d.Project, "", payload{"change": change, "daemonId": id, "name": d.Name})
	})
	h.mu.Unlock()
	if err == nil {
		h.dropCredential(id)
	}
	return missing(err, failure.NotFound, "daemon "+printable(id))
}

// deleteDaemon is for persons, and for the daemon itself, which gives up what it was let in with.
func (h *Hub) deleteDaemon(w http.ResponseWriter, r *http.Request) {
	if strings.Count(bearer(r), ".") == 2 { // a signature by a device key; no person's token has dots
		h.deleteItself(w, r)
		return
	}
	h.let(route{may: person(policy.Developer), handler: func(w http.ResponseWriter, r *http.Request, who Principal) {
		none(w, h.RevokeDaemon(who, r.PathValue("id")))
	}})(w, r)
}

// deleteItself revokes the daemon that asks. One that was revoked before is as good.
func (h *Hub) deleteItself(w http.ResponseWriter, r *http.Request) {
	d, refused, err := h.daemon(r, time.Now())
	subject := "daemon " + printable(r.PathValue("id"))
	switch {
	case err != nil:
		writeError(w, err)
	case refused == failure.CredentialRevoked && d.ID == r.PathValue("id"):
		none(w, nil)
	case refused != "":
		writeFailure(w, http.StatusUnauthorized, failure.New(refused, subject))
	case d.ID != r.PathValue("id"):
		writeError(w, forbidden(subject, "a daemon gives up its own key only"))
	default:
		none(w, h.revokeDaemon(d.ID, system, "gave_up", nil))
	}
}
