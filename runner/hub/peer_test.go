package hub

import (
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// TestPeerThatMayNotSteerIsRefusedWhateverItsToken tries every route. What is open to such a peer is listed here, so that a
// new route is closed to it until somebody writes it down.
func TestPeerThatMayNotSteerIsRefusedWhateverItsToken(t *testing.T) {
	var looked atomic.Int32
	h := serveHub(t, Config{Decider: byText{}, RefusePeer: func(net.Conn) error {
		looked.Add(1)
		return failure.New(failure.ControlRefused, "process 42")
	}})
	pending := h.propose(t, "asks")
	cookie := h.signIn(t, time.Now())
	open := map[string]bool{
		"POST /actions": true, "POST /actions/{id}/outcome": true, // what agents do
		"POST /projects/{id}/runner-ticket": true, "POST /oauth/device_authorization": true, "POST /oauth/token": true, "DELETE /daemons/{id}": true, // what daemons do
	}
	for _, route := range append(h.api(), h.pages()...) {
		name := route.method + " " + route.path
		if open[name] || route.method == "GET" && route.path != terminalPath {
			continue
		}
		path := strings.NewReplacer("{id}", pending.ID, "{host}", "git.example").Replace(route.path)
		for by, change := range map[string]func(*http.Request){
			"token":   func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+personToken) },
			"browser": func(r *http.Request) { r.AddCookie(cookie); r.Header.Set(csrfHeader, "1") },
		} {
			status, answer := h.do(t, route.method, path, "", "{}", change)
			if status != http.StatusForbidden {
				t.Errorf("%s by %s: %d %v", name, by, status, answer)
			} else if route.path != devicePath {
				failuretest.Produced(t, named(answer), failure.ControlRefused)
			}
		}
	}
	for _, path := range []string{"/actions", "/events", "/projects", "/agents"} {
		if status, answer := h.do(t, "GET", path, personToken, ""); status != http.StatusOK {
			t.Errorf("%s: %d %v", path, status, answer)
		}
	}
	if a, err := h.Get(pending.ID); err != nil || a.Status != Pending {
		t.Errorf("%+v, %v", a, err)
	}
	if looked.Load() == 0 {
		t.Error("nobody looked")
	}
}

// TestPeerIsLookedAtOnceAConnection, and not before a request would steer.
func TestPeerIsLookedAtOnceAConnection(t *testing.T) {
	var looked atomic.Int32
	h := serveHub(t, Config{Decider: byText{}, RefusePeer: func(net.Conn) error { looked.Add(1); return nil }})
	own := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	defer own.CloseIdleConnections()
	for i, method := range []string{"GET", "POST", "POST"} {
		r, err := http.NewRequest(method, h.url+map[string]string{"GET": "/actions", "POST": "/login-codes"}[method], nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+personToken)
		resp, err := own.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		if err := resp.Write(&said); err != nil { // and so to its end, for the connection to be used again
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode/100 != 2 {
			t.Errorf("%s: %s", method, said.String())
		}
		if got := int(looked.Load()); got != min(i, 1) {
			t.Errorf("it was looked at %d times", got)
		}
	}
}
