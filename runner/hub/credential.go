package hub

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// Credential lets a daemon ask for tickets. It is a token or a device key, not both.
type Credential struct {
	ID      string // also the kid of a device key
	Project string // the only project it is for; empty: every project, which only a device key may be
	Token   string
	Key     ed25519.PublicKey
}

// Lifetimes of a device key's signature (protocol.md 1.3), and how much a clock may be ahead of ours.
const (
	maxSignatureLife = 60 * time.Second
	clockAhead       = 30 * time.Second
)

// claims of a device key's JWT.
type claims struct {
	IssuedAt  *int64  `json:"iat"`
	Expires   *int64  `json:"exp"`
	ProjectID *string `json:"projectId"`
}

// asking is a daemon that has shown its credential.
type asking struct {
	store.Daemon
	role    policy.Role // of its owner
	claimed *string     // the project that a signature names
}

// daemon finds which daemon asks. One that is not let in is told why, by name, where it has shown that the credential
// is its own; all the names come with the same status, as those who decide by the status expect (protocol.md 1.2).
func (h *Hub) daemon(r *http.Request, now time.Time) (a asking, refused failure.Name, err error) {
	text := bearer(r)
	if text == "" {
		return asking{}, failure.TicketRefused, nil
	}
	jws, bad := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{jose.EdDSA})
	orphan := false
	err = h.store.View(func(tx store.Tx) (err error) {
		if bad != nil {
			a.Daemon, err = tx.DaemonByToken(store.Hash(text))
		} else {
			a.Daemon, err = tx.Daemon(jws.Signatures[0].Header.KeyID)
		}
		if err != nil {
			return err
		}
		owner, err := tx.Member(a.Owner)
		a.role = policy.Role(owner.Role)
		if errors.Is(err, store.ErrNone) {
			orphan, err = true, nil
		}
		return err
	})
	switch {
	case errors.Is(err, store.ErrNone):
		return asking{}, failure.CredentialUnknown, nil
	case err != nil:
		return asking{}, "", err
	}
	if bad == nil {
		if a.claimed, refused = a.signed(jws, now); refused != "" && refused != failure.CredentialExpired {
			return asking{}, refused, nil
		}
	}
	if orphan || !a.Revoked.IsZero() {
		return a, failure.CredentialRevoked, nil
	}
	return a, refused, nil
}

// signed reads the claims of a signature by the daemon's key.
func (a asking) signed(jws *jose.JSONWebSignature, now time.Time) (claimed *string, refused failure.Name) {
	if len(a.Key) != ed25519.PublicKeySize {
		return nil, failure.TicketRefused
	}
	content, err := jws.Verify(ed25519.PublicKey(a.Key))
	var cl claims
	if err != nil || json.Unmarshal(content, &cl) != nil || cl.IssuedAt == nil || cl.Expires == nil {
		return nil, failure.TicketRefused
	}
	issued, expires := time.Unix(*cl.IssuedAt, 0), time.Unix(*cl.Expires, 0)
	switch {
	case !expires.After(issued), expires.Sub(issued) > maxSignatureLife:
		return nil, failure.TicketRefused
	case !expires.After(now), !issued.Before(now.Add(clockAhead)):
		return nil, failure.CredentialExpired
	}
	return cl.ProjectID, ""
}

// letsIn reports whether a credential is still good, for a join whose ticket was used while the credential was revoked.
func (h *Hub) letsIn(id string) bool {
	err := h.store.View(func(tx store.Tx) error {
		d, err := tx.Daemon(id)
		if err == nil {
			_, err = tx.Member(d.Owner)
		}
		if err == nil && !d.Revoked.IsZero() {
			err = store.ErrNone
		}
		return err
	})
	return err == nil
}
