package hub

import (
	"crypto/ed25519"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/policy"
)

func TestDaemonIsLetInByItsKeyUntilItIsRevoked(t *testing.T) {
	h := newTestHub(t)
	public := h.key.Public().(ed25519.PublicKey)
	status, made := h.do(t, "POST", "/daemons", personToken, `{"name":"laptop","machine":"m1","key":"`+base64.RawURLEncoding.EncodeToString(public)+`"}`)
	if status != http.StatusCreated || made["owner"] != "ana" {
		t.Fatal(status, made)
	}
	id := made["id"].(string)
	list := func() int {
		now := time.Now().Unix()
		status, _ := h.do(t, "GET", "/runner/projects", h.sign(t, id, map[string]any{"iat": now, "exp": now + 30}), "")
		return status
	}
	if got := list(); got != http.StatusOK {
		t.Errorf("with its key: %d", got)
	}
	body := `{"name":"renamed","machine":"m1","key":"` + base64.RawURLEncoding.EncodeToString(public) + `"}`
	if _, again := h.do(t, "POST", "/daemons", personToken, body); again["id"] != id {
		t.Errorf("the same key again: %v, not %s", again, id)
	}
	if status, answer := h.do(t, "DELETE", "/daemons/"+id, personToken, ""); status != http.StatusNoContent {
		t.Error(status, answer)
	}
	if got := list(); got != http.StatusUnauthorized {
		t.Errorf("revoked: %d", got)
	}
	if _, again := h.do(t, "POST", "/daemons", personToken, body); again["id"] == id {
		t.Error("a revoked key is in again under its old id")
	}
	bia, err := h.AddMember(Actor{kindPerson, "ana"}, "bia", policy.Maintainer)
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{agentToken, bia} {
		_, answer := h.do(t, "POST", "/daemons", token, body)
		failuretest.Produced(t, named(answer), failure.Forbidden)
	}
}

func TestMachineThatCantBeShownOrSignIsRefused(t *testing.T) {
	h := newTestHub(t)
	key := base64.RawURLEncoding.EncodeToString(h.key.Public().(ed25519.PublicKey))
	for what, body := range map[string]string{
		"no key":              `{"name":"laptop"}`,
		"half a key":          `{"name":"laptop","key":"` + key[:20] + `"}`,
		"another encoding":    `{"name":"laptop","key":"` + key + `="}`,
		"no name":             `{"key":"` + key + `"}`,
		"a name of spaces":    `{"name":"  ","key":"` + key + `"}`,
		"a name that turns":   `{"name":"lap\u202etop","key":"` + key + `"}`,
		"a name of lines":     `{"name":"lap\ntop","key":"` + key + `"}`,
		"a very long name":    `{"name":"` + strings.Repeat("x", longestMachine+1) + `","key":"` + key + `"}`,
		"a very long id":      `{"name":"laptop","machine":"` + strings.Repeat("x", longestMachine+1) + `","key":"` + key + `"}`,
		"an id that can't be": `{"name":"laptop","machine":"\u0000","key":"` + key + `"}`,
		"a member too much":   `{"name":"laptop","key":"` + key + `","role":"owner"}`,
		"two bodies":          `{"name":"laptop","key":"` + key + `"}{}`,
	} {
		status, answer := h.do(t, "POST", "/daemons", personToken, body)
		if status != http.StatusBadRequest {
			t.Errorf("%s: %d %v", what, status, answer)
		}
		failuretest.Produced(t, named(answer), failure.BadRequest)
	}
}
