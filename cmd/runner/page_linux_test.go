package main

import (
	"fmt"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/hub/client"
	"brabo.dev/runner/runner/settings"
)

// pageStage is a hub with its page in a browser, a daemon that executes, and the owner's command line.
type pageStage struct {
	*browser
	host  *hubHost
	home  string
	owner *client.Client
	// daemon serves the project "p".
	daemon *process
}

// pageSetup adapts the hub and the daemon of a pageStage.
type pageSetup struct {
	hub    func(*hub.Config)
	daemon func(*exec.Cmd)
}

func onPage(t *testing.T, setup ...pageSetup) *pageStage {
	t.Helper()
	b := startChromium(t) // first: without it nothing else need start
	home := inHome(t)
	t.Setenv("RUNNER_CONNECT_BACKOFF_MAX", "5s")
	const token = "owner-token-of-the-test"
	host := startHubHost(t, home, func(c *hub.Config) {
		c.Decider, c.PersonToken, c.Person, c.AgentToken = nil, token, "ana", "agent-token-of-the-test"
		c.Projects[0].Mode = hub.ModeMounted
		for _, s := range setup {
			if s.hub != nil {
				s.hub(c)
			}
		}
	})
	folder := filepath.Join(home, ".local", "share", "runner", "hub")
	for name, text := range map[string]string{client.AddressFile: fmt.Sprintf(`{"url":%q}`, host.url), client.TokenFile: token + "\n"} {
		if err := settings.WriteFile(filepath.Join(folder, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	daemon := startProcess(t, home, host.root, host.url, func(cmd *exec.Cmd) {
		for _, s := range setup {
			if s.daemon != nil {
				s.daemon(cmd)
			}
		}
	})
	awaitRunner(t, host.hub)
	if err := os.WriteFile(filepath.Join(host.root, "permissions.json"), []byte(`{"allow":["Terminal(echo)"],"deny":["Terminal(curl)"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &pageStage{b, host, home, client.New(host.url, token), daemon}
	link, _, err := s.owner.LoginLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.open(link)
	s.until(`document.getElementById('link').dataset.state === 'open'`)
	return s
}

// propose proposes a command from the command line, and waits until its card shows everything.
func (s *pageStage) propose(command ...string) (id string) {
	s.t.Helper()
	id = strings.Fields(wants(s.t, s.home, 0, `pending`, append([]string{"propose", "terminal", "--project", "p", "--"}, command...)...))[0]
	s.shown(id)
	return id
}

// proposes proposes anything, and waits until its card shows everything.
func (s *pageStage) proposes(p hub.Proposal) (id, card string) {
	s.t.Helper()
	p.ProjectID = "p"
	a, err := s.owner.Propose(s.t.Context(), p)
	if err != nil {
		s.t.Fatal(err)
	}
	return a.ID, s.shown(a.ID)
}

// shown waits until an action's card shows everything and can be answered, and gives the card's selector.
func (s *pageStage) shown(id string) (card string) {
	s.t.Helper()
	card = fmt.Sprintf(`.card[data-id="%s"]`, id)
	s.until(`document.querySelector('#queue-cards[data-ready] ` + card + `').dataset.preview === 'shown'`)
	return "#queue-cards " + card
}

// text gives the text of what a selector finds.
func (s *pageStage) text(selector string) string {
	s.t.Helper()
	return value[string](s.browser, `document.querySelector(`+strconv.Quote(selector)+`).textContent`)
}

// ended waits until the history shows an action as the given word.
func (s *pageStage) ended(id, word string) {
	s.t.Helper()
	s.until(fmt.Sprintf(`document.querySelector('#history-rows [data-id=%q] .standing').textContent === %q`, id, word))
}

// It needs chromium.
func TestPageDecidesWhatTheCommandLineProposes(t *testing.T) {
	s := onPage(t)
	s.approves()
	s.denies()
	s.alwaysAllows()
	s.showsHostileText()
	s.hasNames()
	s.fitsAPhone()
	s.comesBack()
	s.clean(s.host.url)
}

// approves watches a command that goes on only when the test has seen its output on the page.
func (s *pageStage) approves() {
	s.t.Helper()
	id := s.propose("make lint; echo begun; until test -e go; do sleep 0.05; done; echo finished")
	card := fmt.Sprintf(`#queue-cards [data-id="%s"]`, id)
	for selector, want := range map[string]string{
		card + " .segments": "make lint", card + " .segments .good": "echo begun", card + " .origin": "Shop",
		card + " .cwd": "project folder", card + " .writes": "Terminal(make lint)", card + " .reason": "Scope: mounted:",
	} {
		if got := s.text(selector); !strings.Contains(got, want) {
			s.t.Errorf("%s is %q, which lacks %q", selector, got, want)
		}
	}
	reason := s.text(card + " .reason")
	s.pictures("queue")
	s.press("a")
	running := fmt.Sprintf(`document.querySelector('#running-cards [data-id="%s"]')`, id)
	s.until(running + `.querySelector('.output').textContent.includes('begun')`)
	if got := value[string](s.browser, running+`.querySelector('.standing').textContent`); got != "running" {
		s.t.Errorf("a command with output and no end is %q", got)
	}
	s.pictures("running")
	if err := os.WriteFile(filepath.Join(s.host.root, "go"), nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.until(running + `.querySelector('.output').textContent.includes('finished')`)
	s.ended(id, "done")
	value[any](s.browser, `document.getElementById('show-log').click()`)
	s.until(fmt.Sprintf(`[...document.querySelectorAll('#history-rows .log-line .reason')].some((e) => e.textContent === %q)`, reason))
	value[any](s.browser, `document.getElementById('show-actions').click()`)
	s.ended(id, "done")
	if a := awaitAction(s.t, s.host.hub, id); a.Status != hub.Executed || a.DecidedBy == nil || *a.DecidedBy != "ana" {
		s.t.Errorf("%+v", a)
	}
}

func (s *pageStage) denies() {
	s.t.Helper()
	id := s.propose("make all")
	s.press("d")
	s.until(`document.activeElement.name === 'reason'`)
	s.press("use go build\r")
	s.ended(id, "denied")
	if a := awaitAction(s.t, s.host.hub, id); a.Status != hub.Denied || a.RejectionReason != "use go build" {
		s.t.Errorf("%+v", a)
	}
	value[bool](s.browser, fmt.Sprintf(`(document.querySelector('#history-rows [data-id="%s"]').open = true)`, id))
	s.until(fmt.Sprintf(`document.querySelector('#history-rows [data-id="%s"] .row-body').textContent.includes('use go build')`, id))
}

func (s *pageStage) alwaysAllows() {
	s.t.Helper()
	id := s.propose("sort go")
	promised := s.text(fmt.Sprintf(`#queue-cards [data-id="%s"] .writes .entry`, id))
	s.press("A")
	s.ended(id, "done")
	rules, err := os.ReadFile(filepath.Join(s.host.root, "permissions.json"))
	if err != nil || promised != "Terminal(sort go)" || !strings.Contains(string(rules), promised) {
		s.t.Errorf("promised %q, wrote %s, %v", promised, rules, err)
	}
	wants(s.t, s.home, 0, `^$`, "propose", "terminal", "--project", "p", "--wait", "--", "sort go") // asks nobody any more
}

func (s *pageStage) showsHostileText() {
	s.t.Helper()
	markup := `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`
	id := s.propose("printf %s '" + markup + "' '\u202etxt.exe\u2066 \x1b[2J' '" + strings.Repeat("long ", 4000) + "end'")
	card := fmt.Sprintf(`#queue-cards [data-id="%s"]`, id)
	shown := s.text(card + " .command")
	if !strings.Contains(shown, markup) || !strings.Contains(shown, "long end'") {
		s.t.Errorf("the command's text is not there as it is: %.300q", shown)
	}
	if strings.ContainsAny(value[string](s.browser, "document.body.textContent"), "\u202e\u2066\x1b") {
		s.t.Error("a character that steers the display reached it")
	}
	if n := value[int](s.browser, `document.querySelectorAll('.card img, .card script').length`); n != 0 {
		s.t.Errorf("%d elements were made of the text of a command", n)
	}
	// The command line shows the same.
	if out := wants(s.t, s.home, 0, `<U\+202E>txt\.exe`, "pending"); strings.ContainsAny(out, "\u202e\u2066\x1b") {
		s.t.Errorf("%q", out)
	}
	// However long it is, the answers stay within reach, on a phone, too.
	s.size(390, 844, "light")
	if high := value[float64](s.browser, `document.querySelector('`+card+`').getBoundingClientRect().height`); high > 2*844 {
		s.t.Errorf("the card is %v pixels high", high)
	}
	s.size(1440, 900, "light")
	s.pictures("hostile")
	value[bool](s.browser, `(document.querySelector('`+card+` .answers .danger').click(), document.activeElement.name === 'reason')`)
	s.press("no\r")
	s.ended(id, "denied")
}

// hasNames asks the accessibility tree.
func (s *pageStage) hasNames() {
	s.t.Helper()
	s.propose("make docs")
	found := s.names()
	for _, want := range []string{
		"navigation Panels", "main", "heading Waiting for you", "list Waiting for you", "article ana proposes: make docs",
		"button Approve", "button Always allow", "button Deny…", "search Filter the history", "searchbox Text", "combobox Status", "list History",
		"button Keyboard help", "button Sign out", "combobox Decided by", "region History", "status",
	} {
		if !found[want] {
			role, _, _ := strings.Cut(want, " ")
			s.t.Errorf("a screen reader finds no %q among %q", want, slices.Sorted(ofRole(maps.Keys(found), role)))
		}
	}
	value[bool](s.browser, `(location.hash = '#agents', true)`)
	s.until(`document.querySelector('#agents [role=switch]').checkVisibility()`)
	if found := s.names(); !found["switch Auto mode of agent in Shop"] {
		s.t.Errorf("the toggle has no name: %q", slices.Sorted(ofRole(maps.Keys(found), "switch")))
	}
	s.pictures("agents")
	value[bool](s.browser, `(document.querySelector('#agents [role=switch]').click(), true)`)
	s.until(`document.querySelector('#agents [role=switch]').getAttribute('aria-checked') === 'true'`)
	rows, err := s.owner.Autonomy(s.t.Context(), "p")
	if err != nil || len(rows) != 1 || rows[0].Agent != "agent" || rows[0].ActionType != "*" {
		s.t.Errorf("the toggle wrote %+v, %v", rows, err)
	}
	value[bool](s.browser, `(location.hash = '#machines', true)`)
	s.until(`document.querySelector('#machines-body > *').checkVisibility()`)
	s.pictures("machines")
	value[bool](s.browser, `(location.hash = '#history', true)`)
}

// ofRole leaves those of the names that a screen reader finds which have a role.
func ofRole(names iter.Seq[string], role string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for n := range names {
			if (n == role || strings.HasPrefix(n, role+" ")) && !yield(n) {
				return
			}
		}
	}
}

func (s *pageStage) fitsAPhone() {
	s.t.Helper()
	s.size(390, 844, "dark")
	for _, panel := range []string{"queue", "running", "history", "agents", "containers", "machines"} {
		value[bool](s.browser, `(location.hash = '#`+panel+`', true)`)
		s.until(`document.body.dataset.panel === '` + panel + `' && document.getElementById('` + panel + `').checkVisibility()`)
		if wide := value[int](s.browser, `document.scrollingElement.scrollWidth`); wide > 390 {
			s.t.Errorf("%s is %d pixels wide on a phone of 390", panel, wide)
		}
	}
	s.size(1440, 900, "light")
	value[bool](s.browser, `(location.hash = '#queue', true)`)
}

// comesBack takes the hub away and starts it again, with what its store kept.
func (s *pageStage) comesBack() {
	s.t.Helper()
	s.host.stop()
	s.until(`document.getElementById('link').dataset.state === 'away' && !document.getElementById('banner').hidden`)
	free := value[[]string](s.browser, `[...document.querySelectorAll('#queue-cards button:enabled')].filter((b) => b.checkVisibility()).map((b) => b.textContent)`)
	if shown := value[int](s.browser, `document.querySelectorAll('#queue-cards .card > .answers > button').length`); shown == 0 || len(free) != 0 {
		s.t.Errorf("of %d answers these can be given while the hub is away: %q", shown, free)
	}
	s.pictures("away")
	s.host.start()
	s.until(`document.getElementById('link').dataset.state === 'open' && document.getElementById('banner').hidden`)
	awaitRunner(s.t, s.host.hub)
	id := s.propose("sort -u go")
	s.until(`document.querySelectorAll('#queue-cards .card').length === 2`) // the one from before is there, too
	value[bool](s.browser, fmt.Sprintf(`(document.querySelector('#queue-cards [data-id="%s"] .primary').click(), true)`, id))
	s.ended(id, "done")
}
