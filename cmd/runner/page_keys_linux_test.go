package main

import (
	"fmt"
	"testing"

	"brabo.dev/runner/runner/hub"
)

// It needs chromium. No mouse is used.
func TestPageIsUsedWithTheKeyboardAlone(t *testing.T) {
	s := onPage(t)
	first, second := s.propose("make one"), s.propose("make two")
	selected := func(id string) {
		t.Helper()
		s.until(fmt.Sprintf(`document.activeElement.dataset.id === %q && document.activeElement.ariaCurrent === 'true' && document.querySelector('#queue-cards[data-ready]')`, id))
	}
	s.press("j")
	selected(first)
	s.press("j")
	selected(second)
	s.press("k")
	selected(first)
	s.press("o")
	s.until(`document.activeElement.classList.contains('open')`)
	s.press("?")
	s.until(`document.getElementById('help').open`)
	s.press("a") // not while it is open
	s.press("\x1b")
	s.until(`!document.getElementById('help').open`)
	selected(first)
	s.press("d")
	s.until(`document.activeElement.name === 'reason'`)
	s.press("a1\x1b") // text, and then nothing
	selected(first)
	s.press("j")
	selected(second)
	s.press("d")
	s.until(`document.activeElement.name === 'reason'`)
	s.press("not two\r")
	selected(first) // what is next takes the focus
	s.press("a")
	for id, want := range map[string]hub.Status{first: hub.Failed, second: hub.Denied} { // there is nothing to make
		if a := awaitAction(t, s.host.hub, id); a.Status != want {
			t.Errorf("%s: %+v", id, a)
		}
	}
	s.press("4")
	s.until(`document.activeElement.id === 'agents' && document.querySelector('#agents [role=switch]')`)
	s.press("\t")
	s.until(`document.activeElement.getAttribute('role') === 'switch'`)
	s.press(" ")
	s.until(`document.querySelector('#agents [role=switch]').ariaChecked === 'true'`)
	rows, err := s.owner.Autonomy(t.Context(), "p")
	if err != nil || len(rows) != 1 || rows[0] != (hub.Autonomy{Agent: "agent", ActionType: "*", Mode: "auto_approve"}) {
		t.Errorf("the toggle wrote %+v, %v", rows, err)
	}
	// The list is read again, and the focus stays.
	s.until(`document.activeElement.getAttribute('role') === 'switch'`)
	if _, err := s.owner.AddAgent(t.Context(), "p", "dev-api"); err != nil {
		t.Fatal(err)
	}
	s.until(`document.querySelectorAll('#agents [role=switch]').length === 2 && document.activeElement.ariaLabel === 'Auto mode of agent in Shop'`)
	s.press("/")
	s.until(`document.activeElement.id === 'filter-text'`)
	s.press("two")
	s.rows(second)
	s.press("\x1b3")
	s.until(`document.activeElement.id === 'history'`)
	s.press("t")
	s.until(`document.documentElement.dataset.theme === 'dark'`)
	// The way in for those who go through everything: the first stop leads past the head of the page.
	s.open(s.host.url + "/")
	s.until(`document.getElementById('link').dataset.state === 'open'`)
	s.press("\t")
	s.until(`document.activeElement.className === 'skip' && document.activeElement.checkVisibility()`)
	s.press("\r")
	s.until(`document.activeElement.id === 'queue'`)
	s.clean(s.host.url)
}
