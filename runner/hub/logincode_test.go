package hub

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// open follows a link of NewLoginCode without going where it leads.
func (h *testHub) open(t *testing.T, method, code string, change ...func(*http.Request)) *http.Response {
	t.Helper()
	r, err := http.NewRequest(method, h.url+"/login?code="+code, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(r)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp
}

// browser signs a browser of the member in.
func (h *testHub) browser(t *testing.T, member string) *http.Cookie {
	t.Helper()
	code, _, err := h.NewLoginCode(member)
	if err != nil {
		t.Fatal(err)
	}
	resp := h.open(t, "GET", code)
	if len(resp.Cookies()) != 1 {
		t.Fatalf("%d %v", resp.StatusCode, resp.Header)
	}
	return resp.Cookies()[0]
}

// as makes a browser's request: with the cookie, and from the hub's own page where own is set.
func as(cookie *http.Cookie, own bool) func(*http.Request) {
	return func(r *http.Request) {
		r.AddCookie(cookie)
		if own {
			r.Header.Set(csrfHeader, "1")
			r.Header.Set("Origin", "http://"+r.URL.Host)
		}
	}
}

// stream opens the event stream as a browser does. It ends with the test.
func (h *testHub) stream(t *testing.T, cookie *http.Cookie) *http.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", h.url+"/events/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(cookie)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func TestLoginCodeSignsOneBrowserIn(t *testing.T) {
	h := newTestHub(t)
	_, made := h.do(t, "POST", "/login-codes", personToken, "")
	code, _ := made["code"].(string)
	if expires, err := time.Parse(time.RFC3339, made["expiresAt"].(string)); err != nil || time.Until(expires) > loginCodeLife {
		t.Error(made, err)
	}
	if looked := h.open(t, "HEAD", code); looked.StatusCode != http.StatusMethodNotAllowed || len(looked.Cookies()) != 0 {
		t.Errorf("who only looks: %d %v", looked.StatusCode, looked.Cookies())
	}
	evil := func(r *http.Request) { r.Host = "evil.example" }
	if strange := h.open(t, "GET", code, evil); strange.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("under another name: %d", strange.StatusCode)
	}
	first := h.open(t, "GET", code)
	if first.StatusCode != http.StatusOK || len(first.Cookies()) != 1 {
		t.Fatalf("%d %v", first.StatusCode, first.Header)
	}
	cookie := first.Cookies()[0]
	if cookie.Name != "runner_session" || !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Secure {
		t.Errorf("%+v", cookie)
	}
	if first.Header.Get("Cache-Control") != "no-store" || first.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("%v", first.Header)
	}
	status, me := h.do(t, "GET", "/me", "", "", as(cookie, false))
	if status != http.StatusOK || me["id"] != "ana" || me["role"] != "owner" {
		t.Error(status, me)
	}
	for what, code := range map[string]string{"used": code, "none": "", "unknown": "ABCDEFGHIJKLMNOPQRSTUVWXYZ"} {
		if again := h.open(t, "GET", code); again.StatusCode != http.StatusUnauthorized || len(again.Cookies()) != 0 {
			t.Errorf("%s: %d %v", what, again.StatusCode, again.Cookies())
		}
	}
	if status, _ := h.do(t, "POST", "/login-codes", agentToken, ""); status != http.StatusForbidden {
		t.Errorf("an agent gets a code: %d", status)
	}
}

func TestCookieIsForTLSAloneWhereThereIsTLS(t *testing.T) {
	h := newTestHub(t)
	code, _, err := h.NewLoginCode("ana")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewTLSServer(h)
	defer server.Close()
	r, err := http.NewRequest("GET", server.URL+"/login?code="+code, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "localhost"
	resp, err := server.Client().Transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if len(resp.Cookies()) != 1 || !resp.Cookies()[0].Secure {
		t.Errorf("%d %v", resp.StatusCode, resp.Cookies())
	}
}

func TestSignedOutBrowserIsNobody(t *testing.T) {
	h := newTestHub(t)
	one, other := h.browser(t, "ana"), h.browser(t, "ana")
	_, answer := h.do(t, "POST", "/logout", "", "", as(one, false))
	failuretest.Produced(t, named(answer), failure.Forbidden) // another site signs nobody out
	streams := map[string]*http.Response{"signed out": h.stream(t, one), "the other browser": h.stream(t, other)}
	if status, answer := h.do(t, "POST", "/logout", "", "", as(one, true)); status != http.StatusNoContent {
		t.Error(status, answer)
	}
	if _, err := io.Copy(io.Discard, streams["signed out"].Body); err != nil {
		t.Errorf("its stream goes on: %v", err)
	}
	for lines := bufio.NewScanner(streams["the other browser"].Body); ; {
		if !lines.Scan() {
			t.Fatal("the other browser's stream ended: ", lines.Err())
		}
		if strings.Contains(lines.Text(), "signed_out") {
			break
		}
	}
	for name, c := range map[string]struct {
		cookie *http.Cookie
		want   int
	}{"signed out": {one, http.StatusUnauthorized}, "the other browser": {other, http.StatusOK}} {
		if status, _ := h.do(t, "GET", "/actions", "", "", as(c.cookie, false)); status != c.want {
			t.Errorf("%s: %d", name, status)
		}
	}
	if status, _ := h.do(t, "POST", "/logout", "", "", as(one, true)); status != http.StatusUnauthorized {
		t.Errorf("twice: %d", status)
	}
	if _, log := h.do(t, "GET", "/events?type="+eventBrowser, personToken, ""); len(log["events"].([]any)) != 3 {
		t.Errorf("two that came and one that went: %v", log)
	}
}

func TestRemovedMembersBrowserIsNobody(t *testing.T) {
	h := newTestHub(t)
	owner := Actor{kindPerson, "ana"}
	if _, err := h.AddMember(owner, "bia", policy.Developer); err != nil {
		t.Fatal(err)
	}
	cookie := h.browser(t, "bia")
	code, _, err := h.NewLoginCode("bia")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.RemoveMember(owner, "bia"); err != nil {
		t.Fatal(err)
	}
	if status, _ := h.do(t, "GET", "/actions", "", "", as(cookie, false)); status != http.StatusUnauthorized {
		t.Errorf("%d", status)
	}
	if resp := h.open(t, "GET", code); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("%d", resp.StatusCode)
	}
}

func TestBrowserStaysSignedInAndMachinesWaitOverARestart(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "hub")
	var cookie *http.Cookie
	var device, code string
	for range 2 {
		opened, err := store.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		h := serveHub(t, Config{Store: opened, Decider: byText{}})
		if cookie == nil {
			cookie = h.browser(t, "ana")
			device, code = h.ask(t)
		} else {
			owner := Principal{Kind: kindPerson, ID: "ana", Role: policy.Owner}
			if _, err := h.decideGrant(owner, code, true, time.Now()); err != nil {
				t.Error(err)
			}
			if status, said := h.poll(t, device); status != http.StatusOK {
				t.Error(status, said)
			}
		}
		if status, me := h.do(t, "GET", "/me", "", "", as(cookie, false)); status != http.StatusOK || me["id"] != "ana" {
			t.Error(status, me)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		if err := h.Close(ctx); err != nil {
			t.Error(err)
		}
		cancel()
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	}
}
