package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/page"

	"brabo.dev/runner/containerctl"
	"brabo.dev/runner/runner/hub"
)

// It needs chromium. The page says who can let a held action go on, and how; it can't itself.
func TestPageTellsOfWhatIsHeldAtTheMachine(t *testing.T) {
	s := onPage(t, pageSetup{hub: func(c *hub.Config) { c.Decider = everyone{} }}) // no rule lets pass what a machine holds
	id := proposeText(t, s.host.hub, unseen)
	card := fmt.Sprintf(`#running-cards [data-id="%s"]`, id)
	s.until(`document.querySelector('` + card + ` .held').checkVisibility()`)
	const want = "It waits for the person at the machine, whose own rules ask for it. There: runner confirm. From here it can only be cancelled."
	if got := s.text(card + " .held"); got != want {
		t.Errorf("%q", got)
	}
	if got := s.text(card + " .standing"); got != "held" {
		t.Errorf("%q", got)
	}
	s.until(`document.getElementById('announce').textContent.includes('runner confirm')`)
	buttons := value[[]string](s.browser, `[...document.querySelectorAll('`+card+` button')].map((b) => b.textContent)`)
	if !slices.Equal(buttons, []string{"Cancel"}) {
		t.Errorf("it offers %q", buttons)
	}
	s.ended(id, "held")
	s.pictures("held")
	wants(t, s.home, 0, `^$`, "confirm", "allow", awaitHeld(t, s.home, id).ID)
	s.ended(id, "done")
	s.until(`!document.querySelector('` + card + ` .held').checkVisibility()`)
	s.clean(s.host.url)
}

// It needs chromium, and an engine in RUNNER_TEST_ENGINES with one of the usual small images.
func TestPageStopsAndRemovesContainers(t *testing.T) {
	engine, image := engineWithImage(t)
	dir := "page-" + strings.ToLower(rand.Text()[:12]) // the container's name is this test's alone
	s := onPage(t, pageSetup{
		hub:    func(c *hub.Config) { c.Projects[0].DirName = dir },
		daemon: func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "RUNNER_CONTAINER_ENGINE="+engine.Address()) },
	})
	id, card := s.proposes(hub.Proposal{Type: "container_start", Container: &hub.ContainerSpec{Image: image}})
	if got := s.text(card + " .title"); got != "start container from "+image {
		t.Errorf("%q", got)
	}
	s.press("a")
	a := awaitAction(t, s.host.hub, id)
	if a.Status != hub.Executed {
		t.Fatalf("%+v", a.Outcome)
	}
	t.Cleanup(func() { // where the page has not
		if err := engine.Remove(context.Background(), dir); err != nil {
			t.Error(err)
		}
	})
	s.press("5")
	s.until(`document.querySelector('#containers-body .standing').textContent === 'running'`)
	if got := s.text("#containers-body .name"); got != a.Outcome.Container {
		t.Errorf("%q", got)
	}
	s.pictures("containers")
	for _, step := range []struct{ button, title, then string }{
		{"Stop", "stop the container", `document.querySelector('#containers-body .standing').textContent === 'stopped'`},
		{"Remove", "remove the container", `document.querySelector('#containers-body .empty')`},
	} {
		s.click(`#containers-body [aria-label="` + step.button + ` the container of Shop"]`)
		s.until(`document.querySelector('#queue-cards[data-ready] .card')?.dataset.preview === 'shown'`)
		if got := s.text("#queue-cards .title"); got != step.title {
			t.Errorf("%s proposes %q", step.button, got)
		}
		if got := s.text("#queue-cards .who"); got != "ana" {
			t.Errorf("%s is proposed by %q", step.button, got)
		}
		s.press("a")
		s.until(step.then)
	}
	s.clean(s.host.url)
}

// engineWithImage gives the first engine of RUNNER_TEST_ENGINES and an image that it has.
func engineWithImage(t *testing.T) (e *containerctl.Engine, image string) {
	t.Helper()
	address, _, _ := strings.Cut(os.Getenv("RUNNER_TEST_ENGINES"), ",")
	e, err := containerctl.Discover(t.Context(), containerctl.Discovery{Setting: strings.TrimSpace(address), System: []string{}})
	if err == nil {
		t.Cleanup(func() { e.Close() })
		image, err = e.PlainImage(t.Context())
	}
	if address == "" || err != nil || image == "" {
		if os.Getenv("RUNNER_TEST_REQUIRE") == "1" && os.Geteuid() != 0 {
			t.Fatal("needs an engine in RUNNER_TEST_ENGINES with a small image: ", err)
		}
		t.Skip("needs an engine in RUNNER_TEST_ENGINES with a small image")
	}
	return e, image
}

// It needs chromium.
func TestPageShowsMachinesAndRevokesThem(t *testing.T) {
	s := onPage(t)
	s.press("6")
	s.until(`document.querySelector('#machines-body .standing').textContent === 'connected'`)
	if got := s.text("#machines-body .row-meta"); !strings.Contains(got, "Shop") || !strings.Contains(got, "0 open terminals") {
		t.Errorf("%q", got)
	}
	terminal, err := s.owner.Terminal(t.Context(), "p", hub.TerminalSize{Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	s.press("16") // there and back
	s.until(`document.querySelector('#machines-body .row-meta').textContent.includes('1 open terminal')`)
	s.daemon.kill()
	s.until(`document.querySelector('#machines-body .standing').textContent === 'away' && document.querySelector('#machines-body .problem code').textContent === 'runner_gone'`)
	s.until(`document.getElementById('count-machines').textContent === '1'`)
	s.pictures("machine-away")
	s.click("#machines-body .danger")
	s.until(`document.querySelector('#machines-body .danger').textContent === 'Revoke for good?'`)
	if list, err := s.owner.Daemons(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("one click revokes: %v %v", list, err)
	}
	s.click("#machines-body .danger")
	s.until(`document.querySelector('#machines-body .empty')`)
	if list, err := s.owner.Daemons(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
	s.clean(s.host.url)
}

// It needs chromium. The browser's own notifications end in its window, where nothing can be read: what the page hands
// over is caught on its way there.
func TestPageNotifiesWhoAskedForItAndLooksElsewhere(t *testing.T) {
	s := onPage(t)
	tell(s.browser, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		const Real = Notification;
		window.caught = [];
		window.away = false;
		document.hasFocus = () => !window.away;
		window.Notification = class extends Real {
			constructor(title, options) { super(title, options); window.caught.push({ title, body: options.body, n: this }); }
		};`})
	allow := func(setting cdpbrowser.PermissionSetting) {
		tell(s.browser, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{
			Permission: &cdpbrowser.PermissionDescriptor{Name: "notifications"}, Setting: setting, Origin: s.host.url,
		})
		s.open(s.host.url + "/")
		s.until(`document.getElementById('link').dataset.state === 'open'`)
		value[any](s.browser, `window.away = true`)
	}
	allow(cdpbrowser.PermissionSettingPrompt)
	s.until(`document.getElementById('notify').checkVisibility()`)
	value[any](s.browser, `window.away = true`)
	s.shown(s.propose("make unasked"))
	if n := value[int](s.browser, `window.caught.length`); n != 0 {
		t.Errorf("%d notifications without permission", n)
	}
	allow(cdpbrowser.PermissionSettingGranted)
	s.until(`!document.getElementById('notify').checkVisibility()`)
	value[any](s.browser, `window.away = false`)
	s.propose("make seen")
	value[any](s.browser, `window.away = true`)
	id := s.propose("make unseen '\u202e'")
	got := value[[]map[string]any](s.browser, `window.caught.map(({ title, body }) => ({ title, body })).filter(({ body }) => body !== 'make unasked')`)
	if len(got) != 1 || got[0]["title"] != "ana asks, in Shop" || got[0]["body"] != "make unseen '<U+202E>'" {
		t.Errorf("%q", got)
	}
	s.press("4")
	s.until(`document.body.dataset.panel === 'agents'`)
	value[bool](s.browser, `window.caught.at(-1).n.dispatchEvent(new Event('click'))`)
	s.until(`document.body.dataset.panel === 'queue' && document.activeElement.dataset.id === '` + id + `'`)
}
