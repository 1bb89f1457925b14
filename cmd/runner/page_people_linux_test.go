package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"brabo.dev/runner/runner/hub/client"
)

// click clicks what a selector finds.
func (b *browser) click(selector string) {
	b.t.Helper()
	value[bool](b, `(document.querySelector(`+strconv.Quote(selector)+`).click(), true)`)
}

// as signs the browser in as somebody else, who is given a role if they have none.
func (s *pageStage) as(member, role string) {
	s.t.Helper()
	token, err := s.owner.AddMember(s.t.Context(), member, role)
	if err != nil {
		s.t.Fatal(err)
	}
	link, _, err := client.New(s.host.url, token).LoginLink(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	s.open(link)
	s.until(`document.getElementById('link')?.dataset.state === 'open'`)
}

// It needs chromium. A link that is clicked in a web mail or a chat comes from another site, where a strict cookie is
// kept back from redirects.
func TestPageOpensFromAnotherSitesLink(t *testing.T) {
	s := onPage(t)
	s.until(`!document.getElementById('sign-out').disabled`)
	s.click("#sign-out")
	s.until(`document.querySelector('h1').textContent === 'Sign in'`)
	s.pictures("signin")
	link, _, err := s.owner.LoginLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><link rel="icon" href="data:,"><a href="%s">the hub</a>`, link)
	}))
	defer other.Close()
	elsewhere := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	s.open(elsewhere)
	s.click("a")
	s.until(`document.getElementById('link')?.dataset.state === 'open'`)
	if at := value[string](s.browser, "location.href"); at != s.host.url+"/" {
		t.Errorf("it stands at %s", at)
	}
	if from := value[string](s.browser, "document.referrer"); from != "" {
		t.Errorf("the page knows that it came from %s", from)
	}
}

// It needs chromium.
func TestPageOffersWhatTheRoleMay(t *testing.T) {
	s := onPage(t)
	id := s.propose("make docs")
	card := fmt.Sprintf(`#queue-cards [data-id="%s"]`, id)
	for role, may := range map[string]map[string]bool{
		"viewer":     {"approve": false, "always": false, "autonomy": false, "revoke": false},
		"developer":  {"approve": true, "always": false, "autonomy": false, "revoke": false},
		"maintainer": {"approve": true, "always": true, "autonomy": true, "revoke": true},
	} {
		s.as("a-"+role, role)
		s.until(`document.querySelector('` + card + `').dataset.preview === 'shown' && document.querySelector('#agents [role=switch]') && document.querySelector('#machines .danger')`)
		for what, selector := range map[string]string{
			"approve": card + " .answers .primary", "always": card + ` [aria-keyshortcuts="Shift+A"]`, "autonomy": "#agents [role=switch]", "revoke": "#machines .danger",
		} {
			if free := !value[bool](s.browser, `document.querySelector('`+selector+`').disabled`); free != may[what] {
				t.Errorf("a %s may %s: %v", role, what, free)
			}
		}
	}
	s.as("b-viewer", "viewer")
	s.shown(id)
	s.press("aAd") // no key does what no button may
	if value[bool](s.browser, `[...document.querySelectorAll('`+card+` .problem, `+card+` .reason-form')].some((e) => e.checkVisibility())`) {
		t.Error("a viewer was offered to give a reason, or asked the hub")
	}
	s.as("b-developer", "developer")
	s.shown(id)
	s.press("A")
	s.press("a")
	if a := awaitAction(t, s.host.hub, id); a.DecidedBy == nil || *a.DecidedBy != "b-developer" {
		t.Errorf("%+v", a)
	}
}
