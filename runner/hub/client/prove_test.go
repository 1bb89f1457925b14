package client

import (
	"fmt"
	"net"
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

// The hub goes, and a stranger takes its port while a client that has talked to it lives on.
func TestAttackStrangerTakesThePortOfALivingClient(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	address := server.Listener.Addr().String()
	h := hub.New(hub.Config{PersonToken: "owner-token", Person: "ana", Hosts: []string{address}})
	server.Config.Handler = h
	server.Start()
	c := local(t, server.URL, "owner-token")
	other := c.WithToken("owner-token")
	for _, c := range []*Client{c, other} {
		if _, err := c.Me(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.AddMember(t.Context(), "bo", "viewer"); err != nil { // an event, which tells when the stream is open
		t.Fatal(err)
	}
	followed, open := make(chan error, 1), make(chan struct{}, 16)
	go func() {
		followed <- c.Follow(t.Context(), 0, func(hub.Event) error { open <- struct{}{}; return nil })
	}()
	<-open
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	server.CloseClientConnections()
	server.Close()
	failuretest.Produced(t, <-followed, failure.HubUnreachable)

	var shown atomic.Int32
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	stranger := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			shown.Add(1)
		}
		fmt.Fprint(w, `{"proof":"x","kind":"person"}`)
	}))
	stranger.Listener.Close()
	stranger.Listener = listener
	stranger.Start()
	defer stranger.Close()
	for name, ask := range map[string]func() error{
		"a question":         func() error { _, err := c.Me(t.Context()); return err },
		"another's question": func() error { _, err := other.Me(t.Context()); return err },
		"a stream":           func() error { return c.Follow(t.Context(), 0, func(hub.Event) error { return nil }) },
		"a terminal": func() error {
			_, err := c.Terminal(t.Context(), "p", hub.TerminalSize{Cols: 80, Rows: 24})
			return err
		},
		"a proof": func() error { return c.Prove(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) { failuretest.Produced(t, ask(), failure.HubNotOurs) })
	}
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
