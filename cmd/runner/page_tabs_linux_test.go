package main

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// tab opens the page in one more tab of the same browser.
func (s *pageStage) tab() *pageStage {
	s.t.Helper()
	ctx, end := chromedp.NewContext(s.ctx)
	s.t.Cleanup(end)
	if err := chromedp.Do(ctx); err != nil {
		s.t.Fatal(err)
	}
	one := *s
	one.browser = &browser{t: s.t, ctx: ctx}
	one.open(s.host.url)
	one.live()
	return &one
}

func (s *pageStage) live() {
	s.t.Helper()
	s.until(`document.getElementById('link').dataset.state === 'open'`)
}

// TestPageIsLiveInMoreTabsThanABrowserHasConnections opens eight, where a browser has six connections to one host, and sees
// a proposal and its decision in each: while all are there, after the one that keeps the stream is gone, after another has
// lost it, and after the hub was away. It needs chromium.
func TestPageIsLiveInMoreTabsThanABrowserHasConnections(t *testing.T) {
	s := onPage(t)
	tabs := []*pageStage{s}
	for len(tabs) < 8 {
		tabs = append(tabs, s.tab())
	}
	round := 0
	decided := func(tabs []*pageStage) {
		t.Helper()
		round++
		id := tabs[0].propose(fmt.Sprintf("make round-%d", round))
		for _, tab := range tabs {
			tab.shown(id)
		}
		wants(t, s.home, 0, id, "deny", id)
		for _, tab := range tabs {
			tab.ended(id, "denied")
		}
	}
	decided(tabs)
	// The first has the lock, and leaves the page.
	s.open("about:blank")
	rest := tabs[1:]
	for _, tab := range rest {
		tab.live()
	}
	decided(rest)
	s.open(s.host.url) // as one of the others
	s.live()
	decided(tabs)
	// A tab that the system has stopped keeps its lock, until another one takes that.
	value[any](rest[3].browser, `navigator.locks.request('runner-events', { steal: true }, () => {})`)
	decided(tabs)
	// The hub goes and comes back.
	s.host.stop()
	for _, tab := range tabs {
		tab.until(`document.getElementById('link').dataset.state === 'away'`)
	}
	s.host.start()
	for _, tab := range tabs {
		tab.live()
	}
	awaitRunner(t, s.host.hub)
	decided(tabs)
	// Who signs out in one is signed out in all.
	value[any](s.browser, `document.getElementById('sign-out').click()`)
	for _, tab := range rest {
		tab.until(`document.getElementById('link').dataset.state === 'signed-out'`)
	}
}

// TestPageWithoutLocksKeepsItsOwnStream plays a page that is no secure context, as one over plain HTTP from another machine
// is. It needs chromium.
func TestPageWithoutLocksKeepsItsOwnStream(t *testing.T) {
	s := onPage(t)
	tell(s.browser, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `Object.defineProperty(navigator, 'locks', { value: undefined })`,
	})
	s.open(s.host.url + "/?again")
	s.live()
	id := s.propose("make alone")
	wants(t, s.home, 0, id, "deny", id)
	s.ended(id, "denied")
	s.open("about:blank")
	value[any](s.browser, `history.back()`)
	s.live()
	id = s.propose("make again")
	wants(t, s.home, 0, id, "deny", id)
	s.ended(id, "denied")
}
