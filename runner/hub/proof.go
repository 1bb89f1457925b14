package hub

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"brabo.dev/runner/runner/failure"
)

// A nonce's length in characters.
const (
	leastNonce = 16
	mostNonce  = 128
)

// Proof is what only who holds the owner's token can say about a nonce. By it this machine's commands know their hub
// before they show the token: after a crash the port may belong to another user.
func Proof(token, nonce string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("runner hub\x00" + nonce))
	return hex.EncodeToString(mac.Sum(nil))
}

func (h *Hub) getProof(w http.ResponseWriter, r *http.Request) {
	nonce := r.URL.Query().Get("nonce")
	switch {
	case h.c.PersonToken == "":
		writeError(w, failure.New(failure.NotFound, "GET /proof").Because("this hub has no token of an owner of this machine"))
	case len(nonce) < leastNonce || len(nonce) > mostNonce:
		writeError(w, failure.New(failure.BadRequest, "nonce").Because("it has to have %d to %d characters", leastNonce, mostNonce))
	default:
		writeJSON(w, http.StatusOK, map[string]string{"proof": Proof(h.c.PersonToken, nonce)})
	}
}
