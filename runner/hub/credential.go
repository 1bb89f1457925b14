package hub

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"

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

// daemon finds which daemon asks. Unknown, revoked and expired credentials, bad signatures, and those of a person who
// is no member any more are all alike: not known.
func (h *Hub) daemon(r *http.Request, now time.Time) (a asking, known bool, err error) {
	text := bearer(r)
	if text == "" {
		return asking{}, false, nil
	}
	jws, bad := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{jose.EdDSA})
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
		return err
	})
	switch {
	case errors.Is(err, store.ErrNone):
		return asking{}, false, nil
	case err != nil:
		return asking{}, false, err
	case !a.Revoked.IsZero(), bad == nil && len(a.Key) != ed25519.PublicKeySize:
		return asking{}, false, nil
	case bad != nil:
		return a, true, nil
	}
	signed, err := jws.Verify(ed25519.PublicKey(a.Key))
	if err != nil {
		return asking{}, false, nil
	}
	var cl claims
	if json.Unmarshal(signed, &cl) != nil || !cl.current(now) {
		return asking{}, false, nil
	}
	a.claimed = cl.ProjectID
	return a, true, nil
}

func (c claims) current(now time.Time) bool {
	if c.IssuedAt == nil || c.Expires == nil {
		return false
	}
	issued, expires := time.Unix(*c.IssuedAt, 0), time.Unix(*c.Expires, 0)
	return expires.After(now) && expires.Sub(issued) <= maxSignatureLife && expires.After(issued) && issued.Before(now.Add(clockAhead))
}
