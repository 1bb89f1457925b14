package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/shown"
)

// It needs chromium. What would be written is seen as the difference that it makes, before and after.
func TestPageShowsWhatAFileWouldBecome(t *testing.T) {
	s := onPage(t)
	file := filepath.Join(s.host.root, "notes.txt")
	if err := os.WriteFile(file, []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const content = "one\ntw\u202eo\nthree\n"
	id, card := s.proposes(hub.Proposal{Type: "write_file", Params: json.RawMessage(`{"path":"notes.txt","content":"one\ntw\u202eo\nthree\n"}`)})
	lines := `[...document.querySelectorAll('` + card + ` .diff tr')].map((r) => r.className + ' ' + [...r.cells].map((c) => c.textContent).join('|'))`
	want := []string{"same 1|1| |one", "removed 2||-|two", "added |2|+|tw<U+202E>o", "same 3|3| |three"}
	if got := value[[]string](s.browser, lines); len(got) < 4 || !slices.Equal(got[len(got)-4:], want) {
		t.Errorf("%q", got)
	}
	s.pictures("diff")
	s.press("a")
	s.ended(id, "done")
	if got, err := os.ReadFile(file); err != nil || string(got) != content {
		t.Errorf("%q, %v", got, err)
	}
	// Now it differs from nothing: the history shows what was written.
	row := fmt.Sprintf(`document.querySelector('#history-rows [data-id="%s"]')`, id)
	value[bool](s.browser, row+`.open = true`)
	s.until(row + `.querySelector('.row-body .output').textContent === 'one\ntw<U+202E>o\nthree\n'`)
	_, card = s.proposes(hub.Proposal{Type: "write_file", Params: json.RawMessage(`{"path":"notes.txt","content":"one\ntw\u202eo\nthree\n"}`)})
	if got := s.text(card + " .details"); got != "The file has this content already." {
		t.Errorf("%q", got)
	}
	s.press("d")
	s.until(`document.activeElement.name === 'reason'`)
	s.press("why\r")

	// It has two files, and one line more than it announces.
	patch := "--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ -1,2 +1,2 @@\n keep\n-ask first\n+never ask\u2066\n+nobody\n" +
		"diff --git a/B.md b/B.md\n--- a/B.md\n+++ b/B.md\n@@ -1 +1 @@\n--- a rule\n+++ another\n"
	params, err := json.Marshal(map[string]string{"path": "AGENTS.md", "patch": patch})
	if err != nil {
		t.Fatal(err)
	}
	id, card = s.proposes(hub.Proposal{Type: "instruction_patch", Params: params})
	if got := s.text(card + " .title"); got != "change the instructions AGENTS.md" {
		t.Errorf("%q", got)
	}
	lines = `[...document.querySelectorAll('` + card + ` .diff tr')].map((r) => r.className + ' ' + [...r.cells].map((c) => c.textContent).join('|'))`
	want = []string{
		"meta --- a/AGENTS.md", "meta +++ b/AGENTS.md", "hunk @@ -1,2 +1,2 @@", "same 1|1| |keep", "removed 2||-|ask first", "added |2|+|never ask<U+2066>",
		"added |3|+|nobody", "meta diff --git a/B.md b/B.md", "meta --- a/B.md", "meta +++ b/B.md", "hunk @@ -1 +1 @@", "removed 1||-|-- a rule", "added |1|+|++ another",
	}
	if got := value[[]string](s.browser, lines); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	s.press("a")
	s.until(fmt.Sprintf(`document.querySelector('#running-cards [data-id=%q] .standing').textContent === 'with its proposer'`, id))
	s.clean(s.host.url)
}

// It needs chromium. The page has its own copy of the rule, in another language and with another Unicode.
func TestPageHidesTheSameCharactersAsTheCommandLine(t *testing.T) {
	s := onPage(t)
	hidden := value[[]int](s.browser, `import('/assets/visible.js').then(({ isHidden }) => {
		const edges = [];
		for (let c = 0, was = false; c <= 0x110000; c++) {
			const is = c < 0x110000 && !(c >= 0xd800 && c < 0xe000) && isHidden(String.fromCodePoint(c));
			if (is !== was) edges.push(c);
			was = is;
		}
		return edges;
	})`)
	if len(hidden) < 100 {
		t.Fatalf("%d edges", len(hidden))
	}
	assigned := []*unicode.RangeTable{unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf, unicode.Co, unicode.Other_Default_Ignorable_Code_Point}
	different, next, is := 0, 0, false
	for r := rune(0); r <= unicode.MaxRune; r++ {
		for next < len(hidden) && hidden[next] <= int(r) {
			is, next = !is, next+1
		}
		if r >= 0xd800 && r < 0xe000 || !unicode.In(r, assigned...) { // what is not assigned yet may be in the newer one of both
			continue
		}
		if is != shown.Hidden(r) && different < 10 {
			different++
			t.Errorf("%U is hidden on the page: %v", r, is)
		}
	}
}

// choose chooses in a filter.
func (s *pageStage) choose(filter, choice string) {
	s.t.Helper()
	chosen := value[bool](s.browser, fmt.Sprintf(`(() => {
		const e = document.getElementById('filter-%s');
		e.value = %q;
		e.dispatchEvent(new Event('change'));
		return e.value === %[2]q;
	})()`, filter, choice))
	if !chosen {
		s.t.Errorf("%s has no %q", filter, choice)
	}
}

// rows waits until the history shows these actions and no others.
func (s *pageStage) rows(ids ...string) {
	s.t.Helper()
	raw, err := json.Marshal(append([]string{}, ids...))
	if err != nil {
		s.t.Fatal(err)
	}
	s.until(fmt.Sprintf(`JSON.stringify([...document.querySelectorAll('#history-rows .row')].map((r) => r.dataset.id)) === %q`, raw))
}

// It needs chromium. Old records may lack what newer ones have; that is said, and not left out.
func TestPageFiltersTheHistory(t *testing.T) {
	s := onPage(t)
	if _, err := s.owner.AddAgent(t.Context(), "p", "dev-api"); err != nil {
		t.Fatal(err)
	}
	ana := "ana"
	now := time.Now()
	err := s.host.store.Update(func(tx store.Tx) error {
		for _, a := range []store.Action{
			{ID: "bare", Type: "terminal", Proposer: "agent", Status: "executed", Outcome: []byte(`{"exitCode":0,"output":""}`)},
			{ID: "refused", Type: "terminal", Proposer: "agent", Status: "denied", Policy: "deny", Rule: "file_deny", Reason: "An entry denies it."},
			{ID: "no", Type: "terminal", Proposer: "dev-api", Status: "denied", DecidedBy: &ana, Rejection: "later", Policy: "require_approval", Reason: "It asks."},
			{ID: "spent", Type: "spend", Proposer: "dev-api", Status: "failed", DecidedBy: &ana, Outcome: []byte(`{"exitCode":null,"output":""}`)},
		} {
			a.Project, a.ProposerKind, a.Proposed, a.Decided, a.Ended = "p", "agent", now, now, now
			a.Proposal = fmt.Appendf(nil, `{"projectId":"p","type":%q,"command":"make %s","params":{"amount":3}}`, a.Type, a.ID)
			if a.Type == "spend" {
				a.Proposal = []byte(`{"projectId":"p","type":"spend","params":{"amount":3,"currency":"EUR"}}`)
			}
			if _, err := tx.AddAction(a); err != nil {
				return err
			}
		}
		return tx.AddEvent(store.Event{At: now, Type: "proposed_action.created", ActorKind: "agent", Actor: "agent", Project: "p",
			Payload: []byte(`{"actionId":"bare","actionType":"terminal","status":"auto_approved"}`)})
	})
	if err != nil {
		t.Fatal(err)
	}
	s.open(s.host.url + "/#history")
	s.rows("spent", "no", "refused", "bare")
	s.until(`document.querySelectorAll('#filter-agent option').length === 3`)
	for _, c := range []struct {
		filter, choice string
		want           []string
	}{
		{"status", "denied", []string{"no", "refused"}}, {"status", "failed", []string{"spent"}}, {"type", "spend", []string{"spent"}},
		{"agent", "dev-api", []string{"spent", "no"}}, {"decided", "person", []string{"spent", "no"}}, {"decided", "rules", []string{"refused", "bare"}},
		{"project", "p", []string{"spent", "no", "refused", "bare"}},
	} {
		s.choose(c.filter, c.choice)
		s.rows(c.want...)
		s.choose(c.filter, "")
		s.rows("spent", "no", "refused", "bare")
	}
	s.choose("status", "denied") // two at once
	s.choose("decided", "rules")
	s.rows("refused")
	s.pictures("history")
	s.choose("status", "")
	s.choose("decided", "")
	s.rows("spent", "no", "refused", "bare")
	// What does not match any more goes.
	s.choose("status", "pending")
	s.rows()
	id := s.propose("make docs")
	s.rows(id)
	s.press("1d")
	s.until(`document.activeElement.name === 'reason'`)
	s.press("no\r")
	s.rows()
	s.choose("status", "")

	const missing = "Verdict not recorded: the reason was not recorded. Scope: not recorded."
	s.until(`document.querySelector('#history-rows [data-id="bare"]')`)
	value[bool](s.browser, `(document.querySelector('#history-rows [data-id="bare"]').open = true)`)
	s.until(fmt.Sprintf(`document.querySelector('#history-rows [data-id="bare"] .reason').textContent === %q`, missing))
	s.click("#show-log")
	s.choose("event", "proposed_action.created")
	s.until(fmt.Sprintf(`[...document.querySelectorAll('#history-rows .log-line')].length === 2 && document.querySelector('#history-rows li:last-child .reason').textContent === %q`, missing))
	value[bool](s.browser, `(location.hash = '#history', true)`)
	s.pictures("log")
	if got := value[string](s.browser, `[...new Set([...document.querySelectorAll('#history-rows .event')].map((e) => e.textContent))].join()`); got != "proposed_action.created" {
		t.Errorf("the log shows %s", got)
	}
	if strings.Contains(value[string](s.browser, `document.documentElement.outerHTML`), "token-of-the-test") {
		t.Error("a token is on the page")
	}
	s.clean(s.host.url)
}
