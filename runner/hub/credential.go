package hub

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
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

// bearer gives the text behind "Bearer ", or nothing.
func bearer(r *http.Request) string {
	text, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found {
		return ""
	}
	return text
}

// credential finds who asks. The claimed project is the one that a signature names, if any.
func (h *Hub) credential(r *http.Request, now time.Time) (c Credential, claimed *string, ok bool) {
	text := bearer(r)
	if text == "" {
		return Credential{}, nil, false
	}
	for _, c := range h.c.Credentials {
		if c.Token != "" && sameSecret(c.Token, text) {
			return c, nil, true
		}
	}
	jws, err := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		return Credential{}, nil, false
	}
	kid := jws.Signatures[0].Header.KeyID
	for _, c := range h.c.Credentials {
		if c.Key == nil || c.ID != kid {
			continue
		}
		payload, err := jws.Verify(c.Key)
		if err != nil {
			return Credential{}, nil, false
		}
		var cl claims
		if json.Unmarshal(payload, &cl) != nil || !cl.current(now) {
			return Credential{}, nil, false
		}
		return c, cl.ProjectID, true
	}
	return Credential{}, nil, false
}

func (c claims) current(now time.Time) bool {
	if c.IssuedAt == nil || c.Expires == nil {
		return false
	}
	issued, expires := time.Unix(*c.IssuedAt, 0), time.Unix(*c.Expires, 0)
	return expires.After(now) && expires.Sub(issued) <= maxSignatureLife && expires.After(issued) && issued.Before(now.Add(clockAhead))
}

// sameSecret compares without telling by its time how much was right; hashing first makes the lengths equal.
func sameSecret(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
