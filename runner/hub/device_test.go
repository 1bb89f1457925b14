package hub

import (
	"crypto/ed25519"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/policy"
)

// form posts a form as a browser or a machine does.
func (h *testHub) form(t *testing.T, path string, fields map[string]string, change ...func(*http.Request)) (int, map[string]any) {
	t.Helper()
	values := url.Values{}
	for name, value := range fields {
		values.Set(name, value)
	}
	change = append(change, func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") })
	return h.do(t, "POST", path, "", values.Encode(), change...)
}

// ask lets a machine ask to be let in with the key of the test.
func (h *testHub) ask(t *testing.T) (deviceCode, userCode string) {
	t.Helper()
	x := base64.RawURLEncoding.EncodeToString(h.key.Public().(ed25519.PublicKey))
	status, g := h.form(t, "/oauth/device_authorization", map[string]string{
		"client_id": "runner", "name": "laptop", "machine": "m1", "publicKeyJwk": `{"kty":"OKP","crv":"Ed25519","x":"` + x + `"}`,
	})
	if status != http.StatusOK || g["interval"] != 5.0 || g["expires_in"] != 600.0 || g["verification_uri"] != h.url+"/device" {
		t.Fatal(status, g)
	}
	deviceCode, userCode = g["device_code"].(string), g["user_code"].(string)
	if g["verification_uri_complete"] != h.url+"/device?user_code="+userCode || !regexp.MustCompile(`^[B-Z]{4}-[B-Z]{4}$`).MatchString(userCode) {
		t.Error(g)
	}
	return deviceCode, userCode
}

func (h *testHub) poll(t *testing.T, deviceCode string) (int, map[string]any) {
	t.Helper()
	return h.form(t, "/oauth/token", map[string]string{"client_id": "runner", "grant_type": grantType, "device_code": deviceCode})
}

// page reads a page as the browser with the cookie.
func (h *testHub) page(t *testing.T, path string, cookie *http.Cookie) (int, string) {
	t.Helper()
	r, err := http.NewRequest("GET", h.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(cookie)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

var tokenField = regexp.MustCompile(`name="form_token" value="([0-9a-f]{64})"`)

func TestOwnerLetsAMachineInOnThePage(t *testing.T) {
	h := newTestHub(t)
	device, code := h.ask(t)
	if status, said := h.poll(t, device); status != 400 || said["error"] != "authorization_pending" {
		t.Error(status, said)
	}
	cookie := h.browser(t, "ana")
	typed := url.QueryEscape(" " + strings.ToLower(strings.ReplaceAll(code, "-", " ")))
	status, body := h.page(t, "/device?user_code="+typed, cookie)
	field := tokenField.FindStringSubmatch(body)
	if status != 200 || field == nil || !strings.Contains(body, Fingerprint(h.key.Public().(ed25519.PublicKey))) || !strings.Contains(body, "laptop") || !strings.Contains(body, code) {
		t.Fatal(status, body)
	}
	approve := map[string]string{"user_code": code, "decision": "approve", "form_token": field[1]}
	without := map[string]string{"user_code": code, "decision": "approve"}
	other := h.browser(t, "ana")
	evil := func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }
	for what, c := range map[string]struct {
		fields map[string]string
		change []func(*http.Request)
		want   int
	}{
		"nobody":                        {approve, nil, 401},
		"an agent":                      {approve, []func(*http.Request){func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+agentToken) }}, 403},
		"a form that is not the page's": {without, []func(*http.Request){as(cookie, false)}, 403},
		"the token of another browser":  {approve, []func(*http.Request){as(other, false)}, 403},
		"another site":                  {approve, []func(*http.Request){as(cookie, false), evil}, 403},
		"a decision that is none":       {map[string]string{"user_code": code, "decision": "perhaps", "form_token": field[1]}, []func(*http.Request){as(cookie, false)}, 400},
	} {
		if status, said := h.form(t, "/device", c.fields, c.change...); status != c.want {
			t.Errorf("%s: %d %v", what, status, said)
		}
	}
	if status, said := h.poll(t, device); status != 400 {
		t.Fatal("it was let in by one of them", status, said)
	}
	if status, said := h.form(t, "/device", approve, as(cookie, false)); status != 200 {
		t.Fatal(status, said)
	}
	for range 2 { // an answer that was lost is given again
		status, admitted := h.poll(t, device)
		if status != 200 || admitted["token_type"] != DeviceKeyType || admitted["owner"] != "ana" {
			t.Fatal(status, admitted)
		}
		now := time.Now().Unix()
		credential := h.sign(t, admitted["access_token"].(string), map[string]any{"iat": now, "exp": now + 60})
		if status, _ := h.do(t, "GET", "/runner/projects", credential, ""); status != 200 {
			t.Errorf("the key is not let in: %d", status)
		}
	}
}

func TestRefusedMachineIsToldAndStaysOut(t *testing.T) {
	h := newTestHub(t)
	device, code := h.ask(t)
	owner := Principal{Kind: kindPerson, ID: "ana", Role: policy.Owner}
	for _, approve := range []bool{false, true} { // what was decided stays so
		if g, err := h.decideGrant(owner, code, approve, time.Now()); err != nil || g.State != grantDenied || g.Daemon != "" {
			t.Errorf("%+v, %v", g, err)
		}
	}
	if status, said := h.poll(t, device); status != 400 || said["error"] != "access_denied" {
		t.Error(status, said)
	}
}

func TestOwnersAloneLetMachinesIn(t *testing.T) {
	h := newTestHub(t)
	_, code := h.ask(t)
	if _, err := h.AddMember(Actor{kindPerson, "ana"}, "bia", policy.Maintainer); err != nil {
		t.Fatal(err)
	}
	if status, body := h.page(t, "/device?user_code="+code, h.browser(t, "bia")); status != 403 || strings.Contains(body, "laptop") {
		t.Error(status, body)
	}
}

func TestCodeThatLeadsNowhereIsTriedOnlySoOften(t *testing.T) {
	h := newTestHub(t)
	cookie := h.browser(t, "ana")
	for i := 0; ; i++ {
		status, body := h.page(t, "/device?user_code=BBBB-BBBB", cookie)
		if status == http.StatusTooManyRequests {
			break
		}
		if status != http.StatusNotFound || !strings.Contains(body, "No machine waits") || i > 1000 {
			t.Fatal(i, status, body)
		}
	}
	l, now := newLimits(), time.Now()
	for range tryBurst {
		if wait := l.mayTry(now); wait != 0 {
			t.Errorf("within the burst: %v", wait)
		}
		l.failed(now)
	}
	if wait := l.mayTry(now); wait <= 0 || wait > 5*time.Second {
		t.Errorf("the next one waits %v", wait)
	}
}

func TestPollingIsAsTheStandardSays(t *testing.T) {
	h := newTestHub(t)
	start := time.Now()
	device, g, err := h.beginGrant("laptop", "", h.key.Public().(ed25519.PublicKey), start)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after time.Duration
		want  string
	}{
		{0, "authorization_pending"}, {1 * time.Second, "slow_down"}, // 10 s from now on
		{10 * time.Second, "authorization_pending"}, {16 * time.Second, "slow_down"}, {31 * time.Second, "authorization_pending"},
		{grantLife, "expired_token"}, {grantLife + time.Minute, "expired_token"},
	} {
		if _, got, err := h.pollGrant(device, start.Add(c.after)); got != c.want || err != nil {
			t.Errorf("after %v: %q, %v; want %q", c.after, got, err, c.want)
		}
	}
	owner := Principal{Kind: kindPerson, ID: "ana", Role: policy.Owner}
	_, err = h.decideGrant(owner, g.UserCode, true, start.Add(grantLife))
	failuretest.Produced(t, err, failure.NotFound)
	if _, got, err := h.pollGrant("unknown", start); got != "invalid_grant" || err != nil {
		t.Error(got, err)
	}
	for i := 0; ; i++ {
		if _, _, err = h.beginGrant("laptop", "", h.key.Public().(ed25519.PublicKey), start); err != nil || i > maxGrants {
			break
		}
	}
	failuretest.Produced(t, err, failure.RateLimited)
	if _, _, err := h.beginGrant("laptop", "", h.key.Public().(ed25519.PublicKey), start.Add(2*grantMemory)); err != nil {
		t.Errorf("later: %v", err)
	}
}

func TestRequestThatIsNoneIsRefusedInTheStandardsWords(t *testing.T) {
	h := newTestHub(t)
	public := `{"kty":"OKP","crv":"Ed25519","x":"7rKQLZBgBYUW8W62SNPiNnhjKBn0wefax7JyU9mCeJc"}`
	private := `{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyw2A0"}`
	for what, c := range map[string]struct {
		path, body, want string
	}{
		"no client":        {"device_authorization", "name=x&publicKeyJwk=" + url.QueryEscape(public), "invalid_client"},
		"no key":           {"device_authorization", "client_id=runner&name=x", "invalid_request"},
		"a private key":    {"device_authorization", "client_id=runner&name=x&publicKeyJwk=" + url.QueryEscape(private), "invalid_request"},
		"no name":          {"device_authorization", "client_id=runner&publicKeyJwk=" + url.QueryEscape(public), "invalid_request"},
		"a name twice":     {"device_authorization", "client_id=runner&name=x&name=y&publicKeyJwk=" + url.QueryEscape(public), "invalid_request"},
		"a form too large": {"device_authorization", "client_id=runner&name=" + strings.Repeat("x", maxForm), "invalid_request"},
		"another grant":    {"token", "client_id=runner&grant_type=password&device_code=x", "unsupported_grant_type"},
		"no code":          {"token", "client_id=runner&grant_type=" + grantType, "invalid_request"},
		"an unknown code":  {"token", "client_id=runner&grant_type=" + grantType + "&device_code=x", "invalid_grant"},
	} {
		status, said := h.do(t, "POST", "/oauth/"+c.path, "", c.body, func(r *http.Request) {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		})
		if status != 400 || said["error"] != c.want {
			t.Errorf("%s: %d %v", what, status, said)
		}
	}
	for i := 0; ; i++ {
		status, said := h.do(t, "POST", "/oauth/device_authorization", "", "client_id=runner", func(r *http.Request) {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		})
		if status == http.StatusTooManyRequests {
			failuretest.Produced(t, named(said), failure.RateLimited)
			break
		}
		if i > 1000 {
			t.Fatal("there is no limit")
		}
	}
}

func TestDaemonGivesUpItsOwnKeyAndIsCutOff(t *testing.T) {
	h := newTestHub(t)
	now := time.Now().Unix()
	signed := func(id string, at int64) string { return h.sign(t, id, map[string]any{"iat": at, "exp": at + 60}) }
	_, answer := h.do(t, "DELETE", "/daemons/token", signed("machine", now), "")
	failuretest.Produced(t, named(answer), failure.Forbidden)
	_, answer = h.do(t, "DELETE", "/daemons/machine", signed("machine", now-300), "")
	failuretest.Produced(t, named(answer), failure.CredentialExpired)
	_, answer = h.do(t, "DELETE", "/daemons/nobody", signed("nobody", now), "")
	failuretest.Produced(t, named(answer), failure.CredentialUnknown)
	for range 2 {
		if status, answer := h.do(t, "DELETE", "/daemons/machine", signed("machine", now), ""); status != http.StatusNoContent {
			t.Fatal(status, answer)
		}
	}
	_, answer = h.do(t, "GET", "/runner/projects", signed("machine", now), "")
	failuretest.Produced(t, named(answer), failure.CredentialRevoked)
}

func FuzzWhatAPersonTypesIsACodeOrNone(f *testing.F) {
	for _, typed := range []string{"BCDF-GHJK", " bcdf ghjk", "", "AEIOU", "BCDFGHJKL", "bc\u202edfghjk"} {
		f.Add(typed)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		code := normalUserCode(typed)
		if code != "" && (len(code) != userCodeLength || strings.Trim(code, userCodeLetters) != "" || normalUserCode(shownUserCode(code)) != code) {
			t.Errorf("%q is %q", typed, code)
		}
	})
}

func FuzzPublicKey(f *testing.F) {
	f.Add(`{"kty":"OKP","crv":"Ed25519","x":"7rKQLZBgBYUW8W62SNPiNnhjKBn0wefax7JyU9mCeJc"}`)
	f.Add(`{"kty":"OKP","crv":"Ed25519","x":""}`)
	f.Add(`{}`)
	f.Fuzz(func(t *testing.T, jwk string) {
		if key, why := publicKey(jwk); (why == "") != (len(key) == ed25519.PublicKeySize) {
			t.Errorf("%q is a key of %d bytes", jwk, len(key))
		}
	})
}
