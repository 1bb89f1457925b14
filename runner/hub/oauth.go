package hub

import (
	"bytes"
	"crypto/ed25519"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-jose/go-jose/v4"

	"brabo.dev/runner/runner/failure"
)

const (
	// loginClient is the client_id of `runner login`; others have no login here.
	loginClient = "runner"
	// grantType is the only one that the token endpoint knows (RFC 8628, 3.4).
	grantType = "urn:ietf:params:oauth:grant-type:device_code"
	// maxForm bounds a form, in bytes.
	maxForm = 16 << 10
)

// Authorization is the answer to a machine that asks to be let in (RFC 8628, 3.2). Times are in seconds.
type Authorization struct {
	DeviceCode  string `json:"device_code"`
	UserCode    string `json:"user_code"`
	Address     string `json:"verification_uri"`
	FullAddress string `json:"verification_uri_complete"`
	ExpiresIn   int    `json:"expires_in"`
	Interval    int    `json:"interval"`
}

// Admission is the answer to a machine that was let in. What it may do, it may by its device key, which signs each
// request: the token is the key's id, the `kid` of the signatures, and no secret.
type Admission struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"` // DeviceKeyType
	Owner       string `json:"owner"`
}

// DeviceKeyType is the token_type of an Admission.
const DeviceKeyType = "device_key"

// oauthRefusal is the body of a refusal (RFC 6749, 5.2), with the message that the hub's other refusals have.
type oauthRefusal struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
	Message     string `json:"message"`
}

// postDeviceAuthorization takes the request of a machine, as a form: client_id, and beside it, as the registration of a
// device key has them (protocol.md 1.4), name and publicKeyJwk; machine is the id that the key is bound to, or empty.
func (h *Hub) postDeviceAuthorization(w http.ResponseWriter, r *http.Request) {
	form, ok := oauthForm(w, r)
	if !ok {
		return
	}
	if wait := h.limits.asked(time.Now()); wait > 0 {
		tooMany(w, wait, "device authorization")
		return
	}
	key, why := publicKey(form.Get("publicKeyJwk"))
	if why != "" {
		writeOAuth(w, "invalid_request", why)
		return
	}
	code, g, err := h.beginGrant(form.Get("name"), form.Get("machine"), key, time.Now())
	if failure.Is(err, failure.BadRequest) {
		writeOAuth(w, "invalid_request", failure.As(err).Cause)
		return
	}
	if err != nil {
		writeError(w, err)
		return
	}
	shown := shownUserCode(g.UserCode)
	page := url.URL{Scheme: "http", Host: r.Host, Path: devicePath}
	if r.TLS != nil {
		page.Scheme = "https"
	}
	full := page
	full.RawQuery = url.Values{"user_code": {shown}}.Encode()
	writeJSON(w, http.StatusOK, Authorization{
		DeviceCode: code, UserCode: shown, Address: page.String(), FullAddress: full.String(),
		ExpiresIn: int(grantLife / time.Second), Interval: int(g.Interval / time.Second),
	})
}

// postToken answers a machine that asks whether it is let in by now (RFC 8628, 3.4 and 3.5).
func (h *Hub) postToken(w http.ResponseWriter, r *http.Request) {
	form, ok := oauthForm(w, r)
	switch {
	case !ok:
		return
	case form.Get("grant_type") != grantType:
		writeOAuth(w, "unsupported_grant_type", "the only grant here is "+grantType)
		return
	case form.Get("device_code") == "":
		writeOAuth(w, "invalid_request", "there is no device_code")
		return
	}
	g, refused, err := h.pollGrant(form.Get("device_code"), time.Now())
	if err == nil && refused != "" {
		writeOAuth(w, refused, map[string]string{
			"authorization_pending": "nobody has decided yet",
			"slow_down":             "the questions come too fast; five seconds more lie between them from now on",
			"access_denied":         "the machine was refused",
			"expired_token":         "the code has expired",
			"invalid_grant":         "there is no such code",
		}[refused])
		return
	}
	answer(w, http.StatusOK, Admission{AccessToken: g.Daemon, TokenType: DeviceKeyType, Owner: g.DecidedBy}, err)
}

// oauthForm reads the form of our client, in which nothing stands twice (RFC 6749, 3.1 and 3.2).
func oauthForm(w http.ResponseWriter, r *http.Request) (url.Values, bool) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		writeOAuth(w, "invalid_request", "the form can't be read")
		return nil, false
	}
	for name, values := range r.PostForm {
		if len(values) > 1 {
			writeOAuth(w, "invalid_request", printable(name)+" stands there more than once")
			return nil, false
		}
	}
	if r.PostForm.Get("client_id") != loginClient {
		writeOAuth(w, "invalid_client", "the client_id is "+loginClient)
		return nil, false
	}
	return r.PostForm, true
}

func writeOAuth(w http.ResponseWriter, code, description string) {
	writeJSON(w, http.StatusBadRequest, oauthRefusal{code, description, description})
}

// tooMany answers who came too often.
func tooMany(w http.ResponseWriter, wait time.Duration, subject string) {
	w.Header().Set("Retry-After", retryAfter(wait))
	writeError(w, failure.New(failure.RateLimited, subject))
}

// retryAfter is a wait in whole seconds, rounded up.
func retryAfter(wait time.Duration) string { return strconv.Itoa(int(wait/time.Second) + 1) }

// publicKey reads the public half of an Ed25519 key, as a JWK, or says why it can't be one.
func publicKey(jwk string) (key ed25519.PublicKey, why string) {
	var read jose.JSONWebKey
	if err := read.UnmarshalJSON(bytes.TrimSpace([]byte(jwk))); err != nil {
		return nil, "publicKeyJwk is not a JWK"
	}
	switch key := read.Key.(type) {
	case ed25519.PublicKey:
		return key, ""
	case ed25519.PrivateKey:
		return nil, "publicKeyJwk holds a private half, which never leaves its machine; that key is worth nothing any more"
	}
	return nil, "publicKeyJwk is not a key of the curve Ed25519"
}
