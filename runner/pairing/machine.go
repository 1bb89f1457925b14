package pairing

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// MachineID tells this machine from others: the same at each start, another one on a clone that was given an identity
// of its own. It is derived from the system's id, which stays here. Empty: the system has none.
func MachineID() string {
	id := systemID()
	if id == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(id))
	mac.Write([]byte("brabo.dev/runner pairing"))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}
