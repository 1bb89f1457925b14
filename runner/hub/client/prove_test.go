package client

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub"
)

// local is a client that finds its hub by files in a folder.
func local(t *testing.T, url, token string) *Client {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{AddressFile: fmt.Sprintf(`{"url":%q}`, url), TokenFile: token} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Local(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAttackStrangerOnTheHubsPort(t *testing.T) {
	var shown atomic.Int32
	known := hub.Proof("owner-token", "a nonce of another time") // anybody could have asked the hub for it
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			shown.Add(1)
		}
		fmt.Fprintf(w, `{"proof":%q,"kind":"person"}`, known)
	}))
	defer stranger.Close()
	c := local(t, stranger.URL, "owner-token")
	_, err := c.Me(t.Context())
	failuretest.Produced(t, err, failure.HubNotOurs)
	_, err = c.Terminal(t.Context(), "p", hub.TerminalSize{Cols: 80, Rows: 24})
	failuretest.Produced(t, err, failure.HubNotOurs)
	_, err = c.WithToken("a person's token").Me(t.Context())
	failuretest.Produced(t, err, failure.HubNotOurs)
	if shown.Load() > 0 {
		t.Error("the token was shown to a stranger")
	}
}

func TestHubOfThisMachineProvesItself(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	h := hub.New(hub.Config{PersonToken: "owner-token", Person: "ana", Hosts: []string{server.Listener.Addr().String()}})
	server.Config.Handler = h
	server.Start()
	defer server.Close()
	defer h.Close(t.Context())
	c := local(t, server.URL, "owner-token")
	for range 2 {
		if me, err := c.Me(t.Context()); err != nil || me.ID != "ana" {
			t.Errorf("%+v, %v", me, err)
		}
	}
	_, err := local(t, server.URL, "another-token").Me(t.Context())
	failuretest.Produced(t, err, failure.HubNotOurs)
}
