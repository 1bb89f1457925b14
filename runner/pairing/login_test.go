package pairing

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

const goodRequest = `{"device_code":"geheim-device","user_code":"BCDF-GHJK","verification_uri":"http://hub.example/device",` +
	`"verification_uri_complete":"http://hub.example/device?user_code=BCDF-GHJK","expires_in":600,"interval":1}`

func TestRequestForALoginThatCanNotBeIsNamed(t *testing.T) {
	key := testKey(t).Public()
	for what, tt := range map[string]struct {
		handler http.HandlerFunc
		want    failure.Name
	}{
		"no such door":          {saying(404, "application/json", `{"message":"Not Found"}`), failure.LoginUnsupported},
		"a door with a lock":    {saying(401, "application/json", `{"message":"Unauthorized"}`), failure.LoginUnsupported},
		"a refusal":             {saying(400, "application/json", `{"error":"invalid_client"}`), failure.BadServerAnswer},
		"a refusal of another":  {saying(400, "application/json", `{"message":"no"}`), failure.BadServerAnswer},
		"a web page":            {saying(200, "text/html", `<html>`), failure.BadServerAnswer},
		"no code":               {saying(200, "application/json", `{"verification_uri":"http://x.example/"}`), failure.BadServerAnswer},
		"an address of a file":  {saying(200, "application/json", `{"device_code":"x","user_code":"y","verification_uri":"file:///etc/passwd"}`), failure.BadServerAnswer},
		"another one, complete": {saying(200, "application/json", `{"device_code":"x","user_code":"y","verification_uri":"http://x.example/","verification_uri_complete":"javascript:x"}`), failure.BadServerAnswer},
		"too many":              {saying(429, "application/json", `{}`), failure.RateLimited},
		"out of order":          {saying(502, "text/html", ``), failure.ServerUnavailable},
		"elsewhere":             {saying(302, "text/html", ``, "Location", "http://x.example/"), failure.BadServerAnswer},
	} {
		c := answering(t, tt.handler)
		_, err := c.RequestLogin(t.Context(), "laptop", "m", key)
		if failuretest.Produced(t, err, tt.want); t.Failed() {
			t.Fatal(what)
		}
		hides(t, err)
	}
	c := Client{BaseURL: "http://127.0.0.1:1"}
	_, err := c.RequestLogin(t.Context(), "laptop", "m", key)
	failuretest.Produced(t, err, failure.ServerUnreachable)
}

// waiting is a login whose polls are answered in turn, the last answer again and again.
func waiting(t *testing.T, answers ...http.HandlerFunc) (Client, Login, *atomic.Int32) {
	t.Helper()
	var polls atomic.Int32
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/oauth/device_authorization" {
			_, _ = io.WriteString(w, goodRequest)
			return
		}
		if r.FormValue("device_code") != "geheim-device" || r.FormValue("client_id") != "runner" || r.FormValue("grant_type") != loginGrant {
			t.Errorf("%v", r.Form)
		}
		answers[min(int(polls.Add(1)), len(answers))-1](w, r)
	})
	l, err := c.RequestLogin(t.Context(), "laptop", "m", testKey(t).Public())
	if err != nil || l.interval != time.Second || l.UserCode != "BCDF-GHJK" {
		t.Fatalf("%+v, %v", l, err)
	}
	l.interval = time.Millisecond
	return c, l, &polls
}

func refusing(code string) http.HandlerFunc {
	return saying(400, "application/json", `{"error":"`+code+`"}`)
}

func TestLoginWaitsUntilThePersonHasDecided(t *testing.T) {
	admitted := saying(200, "application/json", `{"access_token":"key-7","token_type":"device_key","owner":"ana"}`)
	c, l, polls := waiting(t, refusing("authorization_pending"), saying(503, "text/html", ""), refusing("authorization_pending"), admitted)
	got, err := c.AwaitLogin(t.Context(), l)
	if err != nil || got != (Admission{"key-7", "ana"}) || polls.Load() != 4 {
		t.Errorf("%+v, %v after %d questions", got, err, polls.Load())
	}
}

func TestEndOfALoginIsNamed(t *testing.T) {
	for code, want := range map[string]failure.Name{
		"access_denied": failure.LoginDenied, "expired_token": failure.LoginExpired, "invalid_grant": failure.LoginExpired,
		"invalid_scope": failure.BadServerAnswer,
	} {
		c, l, _ := waiting(t, refusing(code))
		_, err := c.AwaitLogin(t.Context(), l)
		failuretest.Produced(t, err, want)
		hides(t, err)
	}
	c, l, _ := waiting(t, saying(200, "application/json", `{"access_token":"eyJ0","token_type":"Bearer"}`))
	_, err := c.AwaitLogin(t.Context(), l)
	failuretest.Produced(t, err, failure.BadServerAnswer)
	l.Expires = time.Now().Add(-time.Second)
	_, err = c.AwaitLogin(t.Context(), l)
	failuretest.Produced(t, err, failure.LoginExpired)
	l.Expires, l.interval = time.Now().Add(time.Hour), time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = c.AwaitLogin(ctx, l); err != context.Canceled {
		t.Error(err)
	}
}

func TestCauseThatAServerTellsIsNamed(t *testing.T) {
	for _, name := range []failure.Name{failure.CredentialRevoked, failure.CredentialUnknown, failure.CredentialExpired} {
		c := answering(t, saying(401, "application/json", `{"message":"x","failure":{"name":"`+string(name)+`"}}`))
		c.Credential = testKey(t)
		_, _, err := c.Projects(t.Context())
		failuretest.Produced(t, err, name)
		if !Unauthorized(err) {
			t.Error(err)
		}
	}
	c := answering(t, saying(401, "application/json", `{"message":"x","failure":{"name":"disk_full"}}`))
	_, _, err := c.Projects(t.Context())
	failuretest.Produced(t, err, failure.TicketRefused)
	c = answering(t, saying(204, "", ""))
	if err := c.Revoke(t.Context(), "key/7"); err != nil {
		t.Error(err)
	}
}

func FuzzLoginAnswer(f *testing.F) {
	f.Add(goodRequest)
	f.Add(`{"device_code":"x","user_code":"\u202e\n","verification_uri":"http://x.example","expires_in":-1,"interval":9223372036854775807}`)
	f.Fuzz(func(t *testing.T, text string) {
		var in loginAnswer
		if json.Unmarshal([]byte(text), &in) != nil {
			return
		}
		now := time.Now()
		l, why := in.login(now)
		life := l.Expires.Sub(now)
		if why == "" && (l.interval <= 0 || l.interval > longestPolling || life <= 0 || life > longestLogin || l.UserCode != printable(l.UserCode) || !webAddress(l.Address)) {
			t.Errorf("%q gives %+v", text, l)
		}
	})
}
