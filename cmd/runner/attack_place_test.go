package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"brabo.dev/runner/runner"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub/client"
	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/runner/redact"
	"brabo.dev/runner/runner/settings"
)

// TestAttackStrangerInTheHubsPlace has another program listen where a hub crashed. None of login, whoami, logout and a
// daemon has anything to do with it; once the hub ended in order, its address is nobody's, and what a person names is
// what they mean.
func TestAttackStrangerInTheHubsPlace(t *testing.T) {
	home := inHome(t)
	var asked atomic.Int32
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/proof" {
			asked.Add(1)
		}
		fmt.Fprint(w, `{"proof":"trust me","ticket":"t","engineWsUrl":"ws://127.0.0.1:1"}`)
	}))
	defer stranger.Close()
	folder := filepath.Join(home, ".local", "share", "runner", "hub")
	for name, text := range map[string]string{client.AddressFile: fmt.Sprintf(`{"url":%q}`, stranger.URL), client.TokenFile: "owner-token"} {
		if err := settings.WriteFile(filepath.Join(folder, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	alias := strings.Replace(stranger.URL, "127.0.0.1", "localhost", 1)
	for _, from := range [][2]string{{"", ""}, {stranger.URL, ""}, {"", stranger.URL}, {alias, ""}, {"", alias}} { // settings, and the pairing before
		_, err := loginServer(t.Context(), "", from[0], from[1])
		failuretest.Produced(t, err, failure.HubNotOurs)
	}
	values, src, err := loadSettings()
	if err != nil {
		t.Fatal(err)
	}
	known := &redact.Known{}
	var o runner.Options
	for _, server := range []string{alias, stranger.URL} {
		h, err := newHost(values, src, server, pairing.Token{Secret: settings.NewSecret(testToken)}, known, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if o, err = h.options(); err != nil {
			t.Fatal(err)
		}
		_, err = o.Address(t.Context(), "p")
		failuretest.Produced(t, err, failure.HubNotOurs)
		_, _, err = h.projects(t.Context())
		failuretest.Produced(t, err, failure.HubNotOurs)
		for _, c := range h.serverChecks(settings.Run{ProjectID: "p"}) {
			if c.Name == "credential" {
				_, err := c.Look(t.Context())
				failuretest.Produced(t, err, failure.HubNotOurs)
			}
		}
	}
	if asked.Load() > 0 {
		t.Error("the stranger was asked for more than a proof")
	}
	const jwk = `{"kty":"OKP","crv":"Ed25519","kid":"k","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}` // RFC 8037, A.1
	pairWith(t, stranger.URL, jwk)
	if code, me := identityOf(t); code != exitNotRunning || me.Standing != string(failure.HubNotOurs) {
		t.Errorf("whoami: exit %d, %+v", code, me)
	}
	err = failing(t, newLogoutCommand())
	if f := failuretest.Produced(t, err, failure.LogoutUnconfirmed); !failure.Is(f.Err, failure.HubNotOurs) {
		t.Errorf("logout: %v", err)
	}
	if asked.Load() > 0 {
		t.Error("the stranger was shown a signature")
	}
	if err := os.Remove(filepath.Join(folder, client.AddressFile)); err != nil {
		t.Fatal(err)
	}
	pairWith(t, stranger.URL, jwk)
	if _, me := identityOf(t); me.Standing == string(failure.HubNotOurs) || asked.Load() == 0 {
		t.Errorf("whoami: %+v after %d questions", me, asked.Load())
	}
	asked.Store(0)
	if _, err := o.Address(t.Context(), "p"); failure.Is(err, failure.HubNotOurs) || asked.Load() == 0 {
		t.Errorf("%v after %d questions", err, asked.Load())
	}
}
