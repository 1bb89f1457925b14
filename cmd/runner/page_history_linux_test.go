package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/hub/store"
)

// It needs chromium. A year of work must not make the page slow to use: rows come as they are scrolled to.
func TestPageStaysUsableWithALongHistory(t *testing.T) {
	const many = 10_000
	s := onPage(t)
	began := time.Now().Add(-many * time.Second)
	err := s.host.store.Update(func(tx store.Tx) error {
		for i := range many {
			_, err := tx.AddAction(store.Action{
				ID: fmt.Sprint("old-", i), Project: "p", Type: "terminal", ProposerKind: "agent", Proposer: "agent", Status: "executed",
				Policy: "auto_approve", Rule: "file_allow", Reason: "An entry allows it.", Proposed: began.Add(time.Duration(i) * time.Second),
				Proposal: fmt.Appendf(nil, `{"projectId":"p","type":"terminal","command":"make target-%d"}`, i),
				Outcome:  []byte(`{"exitCode":0,"output":"made"}`), Ended: began.Add(time.Duration(i) * time.Second),
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.open(s.host.url + "/")
	s.until(`document.querySelectorAll('#history-rows .row').length >= 100`)
	if n := value[int](s.browser, `document.querySelectorAll('#history-rows .row').length`); n > many/10 {
		t.Errorf("%d rows before anybody scrolled", n)
	}
	id := s.propose("touch made-after-a-year")
	s.press("a")
	s.ended(id, "done")
	s.press("/")
	s.until(`document.activeElement.id === 'filter-text'`)
	s.press("target-9998")
	s.until(`document.querySelectorAll('#history-rows .row').length === 1 && document.querySelector('#history-rows .row').dataset.id === 'old-9998'`)
	s.clean(s.host.url)
}

// It needs chromium. A cookie knows no ports; SECURITY.md says so.
func TestNotDefendedCookieGoesToEveryPortOfTheHost(t *testing.T) {
	s := onPage(t)
	sent := make(chan string, 1)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case sent <- r.Header.Get("Cookie"):
		default:
		}
	}))
	defer other.Close()
	s.open(other.URL)
	if got := <-sent; !strings.Contains(got, "runner_session=") {
		t.Errorf("%q", got)
	}
}
