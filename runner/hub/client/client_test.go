package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub"
)

func TestLocalHubIsFoundByItsFiles(t *testing.T) {
	dir := t.TempDir()
	_, err := Local(dir)
	failuretest.Produced(t, err, failure.HubNotRunning)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(AddressFile, `{"url":`)
	_, err = Local(dir)
	failuretest.Produced(t, err, failure.HubUnreachable)
	write(AddressFile, `{"url":"http://127.0.0.1:4680/"}`)
	_, err = Local(dir)
	failuretest.Produced(t, err, failure.HubUnreachable)
	write(TokenFile, "secret\n")
	c, err := Local(dir)
	if err != nil || c.URL() != "http://127.0.0.1:4680" || c.token != "secret" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestWhatAnswersIsNamed(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/actions/broken" {
			_, _ = w.Write([]byte("<html>"))
			return
		}
		http.Error(w, "no hub", http.StatusTeapot)
	}))
	defer s.Close()
	c := New(s.URL, "t")
	_, err := c.Action(t.Context(), "broken")
	failuretest.Produced(t, err, failure.BadServerAnswer)
	_, err = c.Action(t.Context(), "x")
	failuretest.Produced(t, err, failure.BadServerAnswer)

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // nobody listens there now
	_, err = New("http://"+l.Addr().String(), "t").Me(t.Context())
	failuretest.Produced(t, err, failure.HubUnreachable)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = c.Me(ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestRefusalsOfTheHubKeepTheirNames asks a real hub.
func TestRefusalsOfTheHubKeepTheirNames(t *testing.T) {
	s := httptest.NewUnstartedServer(nil)
	h := hub.New(hub.Config{PersonToken: "owner-token", Hosts: []string{"127.0.0.1"}})
	s.Config.Handler = h
	s.Start()
	defer s.Close()
	defer func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	owner := New(s.URL, "owner-token")
	if me, err := owner.Me(t.Context()); err != nil || me.Kind != "person" || me.Role != "owner" {
		t.Errorf("%+v, %v", me, err)
	}
	_, err := owner.Action(t.Context(), "nobody/../x")
	failuretest.Produced(t, err, failure.ActionNotFound)
	_, err = owner.Propose(t.Context(), hub.Proposal{ProjectID: "none", Type: "terminal", Command: "ls"})
	failuretest.Produced(t, err, failure.ProjectNotFound)
	_, err = New(s.URL, "another").Projects(t.Context())
	failuretest.Produced(t, err, failure.Unauthorized)
}

func TestRequestsOfOneClientAreOfOneSession(t *testing.T) {
	asked := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get(hub.SessionHeader)
		w.Header().Set("Connection", "close") // the next one comes on another connection of TCP
		_, _ = w.Write([]byte(`{}`))
	}))
	defer server.Close()
	var s []string
	one := New(server.URL, "token")
	for _, c := range []*Client{one, one, one.Trusting(&tls.Config{}), New(server.URL, "token"), one.WithToken("another")} {
		if _, err := c.Me(t.Context()); err != nil {
			t.Fatal(err)
		}
		s = append(s, <-asked)
	}
	if s[0] == "" || s[1] != s[0] || s[2] != s[0] || s[3] == s[0] || s[4] == s[0] {
		t.Errorf("%q", s)
	}
}
