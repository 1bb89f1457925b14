package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"brabo.dev/runner/runner/hub"
)

// It needs chromium.
func TestPageLetsMachinesIn(t *testing.T) {
	s := onPage(t)
	key, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(name string) (code, complete string) {
		t.Helper()
		resp, err := http.PostForm(s.host.url+"/oauth/device_authorization", url.Values{
			"client_id": {"runner"}, "name": {name}, "machine": {name},
			"publicKeyJwk": {fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q}`, base64.RawURLEncoding.EncodeToString(key))},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var grant struct {
			Code     string `json:"user_code"`
			Complete string `json:"verification_uri_complete"`
		}
		if err := json.NewDecoder(resp.Body).Decode(&grant); err != nil || grant.Code == "" {
			t.Fatal(resp.Status, err)
		}
		return grant.Code, grant.Complete
	}
	title := func(want string) {
		t.Helper()
		s.until(fmt.Sprintf(`document.querySelector('h1')?.textContent === %q`, want))
	}

	code, _ := ask("laptop of ana")
	s.open(s.host.url + "/device")
	title("Let a machine in")
	s.until(`document.activeElement.name === 'user_code'`)
	s.pictures("device")
	s.press("nothing\r")
	s.until(`document.querySelector('[role=alert]')?.textContent.startsWith('No machine waits with this code.')`)
	s.pictures("device-unknown")
	s.until(`document.activeElement.name === 'user_code'`) // a browser gives the focus when it has drawn the page
	value[any](s.browser, `document.activeElement.select()`)
	s.press(strings.ToLower(code) + "\r") // with the keyboard alone
	title("Let this machine in?")
	facts := value[[]string](s.browser, `[...document.querySelectorAll('dd')].map((d) => d.textContent)`)
	if len(facts) != 3 || facts[0] != "laptop of ana" || facts[1] != code || facts[2] != hub.Fingerprint(key) {
		t.Errorf("%q", facts)
	}
	if found := s.names(); !found["button Let it in"] || !found["button Refuse"] || !found["heading Let this machine in?"] {
		t.Errorf("%v", found)
	}
	s.pictures("device-machine")
	s.click("button[value=approve]")
	title("laptop of ana is in")
	s.pictures("device-in")
	s.click(`a[href="/#machines"]`)
	s.until(`[...document.querySelectorAll('#machines-body .name')].some((e) => e.textContent.includes('laptop of ana'))`)
	if got := s.text("#machines-body .fingerprint"); got != hub.Fingerprint(key) {
		t.Errorf("%q", got)
	}

	_, complete := ask("stranger")
	s.open(complete)
	title("Let this machine in?")
	s.click("button[value=deny]")
	title("stranger was refused")
	s.as("a-developer", "developer")
	s.open(complete)
	title("That did not work")
	s.pictures("failure")
}
