package pairing

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/settings"
)

// What a login says of itself (RFC 8628), and the type of the token that stands for a key's registration.
const (
	loginClient   = "runner"
	loginGrant    = "urn:ietf:params:oauth:grant-type:device_code"
	deviceKeyType = "device_key"
)

// Bounds on what a server says about a login.
const (
	usualInterval  = 5 * time.Second // where the server names none (RFC 8628, 3.2)
	longestPolling = time.Minute
	slowDown       = 5 * time.Second // added where the server asks for it (RFC 8628, 3.5)
	longestLogin   = time.Hour
)

// Login is a machine's request to be let in, which a person decides.
type Login struct {
	UserCode    string // for the person to compare, or to type
	Address     string // of the page where it is decided
	FullAddress string // with the code in it; may be empty
	Expires     time.Time
	interval    time.Duration
	deviceCode  settings.Secret
}

// Admission is what an approved Login gives: the id of the key's registration, and who approved it.
type Admission struct{ ID, Owner string }

// RequestLogin asks the server to let this machine in, by its name and the public half of its key; machine is its
// MachineID. It fails with LoginUnsupported where the server has no such door, and with RateLimited, ServerUnavailable,
// ServerUnreachable and BadServerAnswer.
func (c Client) RequestLogin(ctx context.Context, name, machine string, key ed25519.PublicKey) (Login, error) {
	const path = "/oauth/device_authorization"
	var in loginAnswer
	asked := time.Now()
	refused, err := c.form(ctx, path, url.Values{"name": {name}, "machine": {machine}, "publicKeyJwk": {string(PublicJWK(key))}}, &in)
	if err != nil {
		return Login{}, err
	}
	l, why := in.login(asked)
	if refused != "" {
		why = "the server refuses the request for a login: " + refused
	}
	if why != "" {
		return Login{}, failure.New(failure.BadServerAnswer, c.subject(request{method: http.MethodPost, path: path})).Because("%s", why)
	}
	return l, nil
}

// loginAnswer is what a server says to a request for a login (RFC 8628, 3.2).
type loginAnswer struct {
	DeviceCode  string `json:"device_code"`
	UserCode    string `json:"user_code"`
	Address     string `json:"verification_uri"`
	FullAddress string `json:"verification_uri_complete"`
	ExpiresIn   int64  `json:"expires_in"`
	Interval    int64  `json:"interval"`
}

// login is the answer to what was asked at that time, or why it can't be used.
func (in loginAnswer) login(asked time.Time) (l Login, why string) {
	if in.DeviceCode == "" || printable(in.UserCode) == "" || !webAddress(in.Address) || in.FullAddress != "" && !webAddress(in.FullAddress) {
		return Login{}, "the answer lacks a code or the address of the page to approve it on"
	}
	seconds := func(n int64, usual, most time.Duration) time.Duration {
		if n <= 0 || n > int64(most/time.Second) {
			return usual
		}
		return time.Duration(n) * time.Second
	}
	return Login{
		UserCode: printable(in.UserCode), Address: in.Address, FullAddress: in.FullAddress, deviceCode: settings.NewSecret(in.DeviceCode),
		Expires: asked.Add(seconds(in.ExpiresIn, longestLogin, longestLogin)), interval: seconds(in.Interval, usualInterval, longestPolling),
	}, ""
}

// AwaitLogin asks until the person has decided, at the pace that the server wants; that the server can't be reached for
// a while is waited out. It fails with LoginDenied, LoginExpired and BadServerAnswer, or with ctx's error.
func (c Client) AwaitLogin(ctx context.Context, l Login) (Admission, error) {
	const path = "/oauth/token"
	subject := c.subject(request{method: http.MethodPost, path: path})
	for {
		pause := time.NewTimer(l.interval)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return Admission{}, ctx.Err()
		}
		if !time.Now().Before(l.Expires) {
			return Admission{}, failure.New(failure.LoginExpired, "code "+l.UserCode)
		}
		var in struct {
			Token string `json:"access_token"`
			Type  string `json:"token_type"`
			Owner string `json:"owner"`
		}
		refused, err := c.form(ctx, path, url.Values{"grant_type": {loginGrant}, "device_code": {l.deviceCode.Reveal()}}, &in)
		switch {
		case ctx.Err() != nil:
			return Admission{}, ctx.Err()
		case failure.Is(err, failure.ServerUnreachable), failure.Is(err, failure.ServerUnavailable), refused == "authorization_pending":
		case refused == "slow_down", failure.Is(err, failure.RateLimited):
			l.interval = min(max(l.interval+slowDown, RetryAfter(err)), longestPolling)
		case err != nil:
			return Admission{}, err
		case refused == "access_denied":
			return Admission{}, failure.New(failure.LoginDenied, "code "+l.UserCode)
		case refused == "expired_token", refused == "invalid_grant":
			return Admission{}, failure.New(failure.LoginExpired, "code "+l.UserCode)
		case refused != "":
			return Admission{}, failure.New(failure.BadServerAnswer, subject).Because("the server refuses: %s", refused)
		case in.Type != deviceKeyType || registrationID(in.Token) != nil:
			return Admission{}, failure.New(failure.BadServerAnswer, subject).Because("the server let this machine in without registering its key")
		default:
			return Admission{in.Token, in.Owner}, nil
		}
	}
}

// form posts a form of our client and decodes a good answer into out. refused is the word of OAuth 2.0 for a refusal,
// where the server gives one.
func (c Client) form(ctx context.Context, path string, fields url.Values, out any) (refused string, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	call := request{http.MethodPost, path, "", largestTicket}
	fields.Set("client_id", loginClient)
	req, err := http.NewRequestWithContext(ctx, call.method, strings.TrimRight(c.BaseURL, "/")+path, strings.NewReader(fields.Encode()))
	if err != nil {
		return "", failure.New(failure.ServerUnreachable, c.subject(call)).Because("the address is not a URL").Wrap(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "runner")
	resp, err := c.http().Do(req)
	if err != nil {
		return "", c.unreachable(ctx, call, err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK, http.StatusBadRequest:
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnauthorized, http.StatusForbidden:
		return "", failure.New(failure.LoginUnsupported, c.BaseURL)
	default:
		return "", c.refused(call, resp, settings.Secret{})
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, call.largest))
	if err != nil {
		return "", c.unreachable(ctx, call, err)
	}
	var answer struct {
		Error string `json:"error"`
	}
	if err = json.Unmarshal(body, &answer); err == nil && resp.StatusCode == http.StatusOK {
		err = json.Unmarshal(body, out)
	}
	if err == nil && resp.StatusCode != http.StatusOK && answer.Error == "" {
		err = errors.New("there is no error in it")
	}
	if err != nil {
		return "", failure.New(failure.BadServerAnswer, c.subject(call)).Because("the answer is not the JSON that it should be")
	}
	if resp.StatusCode == http.StatusOK {
		return "", nil
	}
	return printable(answer.Error), nil
}

// webAddress reports whether text is an address that a browser may be sent to.
func webAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}
