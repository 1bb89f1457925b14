package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is a page in a real Chromium, and what that said of it.
type browser struct {
	t         *testing.T
	ctx       context.Context
	mu        sync.Mutex
	asked     []string // the addresses of its requests
	complains []string // exceptions, the console, and what the browser blocked
}

// startChromium starts it. Without one the test is skipped, or fails where all components are required.
func startChromium(t *testing.T) *browser {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		if os.Getenv("RUNNER_TEST_REQUIRE") == "1" {
			t.Fatal("chromium is not here, and RUNNER_TEST_REQUIRE demands it")
		}
		t.Skip("chromium is not here")
	}
	dir, err := os.MkdirTemp("", "runner-browser-") // the browser may still write there when the test ends
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // it lies in the folder for temporary files
	allocator, endAllocator := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(dir), chromedp.Env("HOME="+dir),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true))...)
	t.Cleanup(endAllocator)
	ctx, end := chromedp.NewContext(allocator)
	t.Cleanup(end)
	b := &browser{t: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal("starting chromium: ", err)
	}
	if err := chromedp.Listen(ctx, b.heard); err != nil {
		t.Fatal(err)
	}
	tell(b, cdplog.Enable, cdp.Empty{})
	tell(b, network.Enable, network.EnableParams{})
	b.size(1440, 900, "light")
	return b
}

func (b *browser) heard(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.asked = append(b.asked, e.Request.URL)
	case *runtime.EventExceptionThrown:
		b.complains = append(b.complains, "exception: "+e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.complains = append(b.complains, "console."+string(e.Type))
	case *cdplog.EventEntryAdded:
		// A hub that is away is told as an error of the network, and is no fault of the page.
		if !strings.Contains(e.Entry.Text, "net::ERR_") {
			b.complains = append(b.complains, string(e.Entry.Source)+": "+e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

// clean asserts that nothing was blocked or went wrong, and that every request went to the hub.
func (b *browser) clean(hub string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complains {
		b.t.Errorf("the browser complains: %s", c)
	}
	if len(b.asked) == 0 {
		b.t.Error("the browser's requests were not recorded")
	}
	for _, a := range b.asked {
		if !strings.HasPrefix(a, hub+"/") && !strings.HasPrefix(a, "data:") {
			b.t.Errorf("the page asked for %s", a)
		}
	}
}

func (b *browser) bounded() (context.Context, context.CancelFunc) {
	return context.WithTimeout(b.ctx, time.Minute)
}

// tell sends the browser a command of its protocol.
func tell[P, R any](b *browser, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	ctx, cancel := b.bounded()
	defer cancel()
	answer, err := chromedp.Call(ctx, command, params)
	if err != nil {
		b.t.Fatalf("%s: %v", command.Method, err)
	}
	return answer
}

// value evaluates an expression in the page; a promise is awaited.
func value[T any](b *browser, expression string) T {
	b.t.Helper()
	ctx, cancel := b.bounded()
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText")) // for the message only
		b.t.Fatalf("%s: %v; the page shows:\n%s", expression, err, text)
	}
	return out
}

// until waits until the expression holds; it is looked at with each change of the document, and now and then for what
// is none, such as the focus. The page may go elsewhere meanwhile.
func (b *browser) until(expression string) {
	b.t.Helper()
	ctx, cancel := b.bounded()
	defer cancel()
	for {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`new Promise((resolve) => {
			const look = () => {
				try { if (!(`+expression+`)) return; } catch { return; }
				watch.disconnect();
				clearInterval(timer);
				resolve(true);
			};
			const watch = new MutationObserver(look);
			watch.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
			const timer = setInterval(look, 50);
			look();
		})`, chromedp.EvalAwaitPromise))
		if err == nil {
			return
		}
		if ctx.Err() == nil && gone.MatchString(err.Error()) {
			continue
		}
		text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText")) // for the message only
		b.t.Fatalf("never: %s; %v; the page shows:\n%s", expression, err, text)
	}
}

// gone is what the browser says of a page that it has left.
var gone = regexp.MustCompile(`navigated or closed|context was destroyed|Cannot find context|uniqueContextId not found`)

// open goes to an address.
func (b *browser) open(address string) {
	b.t.Helper()
	ctx, cancel := b.bounded()
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		b.t.Fatal(err)
	}
}

// press presses keys as a person does: the character comes out of the key's going down.
func (b *browser) press(text string) {
	b.t.Helper()
	for _, r := range text {
		down := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: string(r), Text: string(r), UnmodifiedText: string(r)}
		switch {
		case r == '\r':
			down.Key, down.WindowsVirtualKeyCode = "Enter", 13
		case r == '\t':
			down.Key, down.Text, down.UnmodifiedText, down.WindowsVirtualKeyCode = "Tab", "", "", 9
		case r == '\x1b':
			down.Key, down.Text, down.UnmodifiedText, down.WindowsVirtualKeyCode = "Escape", "", "", 27
		case r == ' ':
			down.WindowsVirtualKeyCode = 32
		case unicode.IsUpper(r):
			down.Modifiers = 8 // shift
		}
		up := down
		up.Type, up.Text, up.UnmodifiedText = input.DispatchKeyEventTypeKeyUp, "", ""
		tell(b, input.DispatchKeyEvent, down)
		tell(b, input.DispatchKeyEvent, up)
	}
}

// size makes the window of so many pixels, and has the system prefer a theme.
func (b *browser) size(width, height int64, theme string) {
	b.t.Helper()
	phone := width < 600
	scale := map[bool]float64{true: 2, false: 1}[phone]
	tell(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: scale, Mobile: phone})
	tell(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}})
}

// pictures writes the page into RUNNER_TEST_PICTURES, where that is set, for people to look at: in both themes, and as
// it is on a phone.
func (b *browser) pictures(name string) {
	b.t.Helper()
	folder := os.Getenv("RUNNER_TEST_PICTURES")
	if folder == "" {
		return
	}
	for look, size := range map[string][2]int64{"light": {1440, 900}, "dark": {1440, 900}, "phone": {390, 844}} {
		theme := map[bool]string{true: "dark", false: "light"}[look == "dark"]
		b.size(size[0], size[1], theme)
		ctx, cancel := b.bounded()
		png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		cancel()
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name+"-"+look+".png"), png, 0o600)
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
	b.size(1440, 900, "light")
}

// names gives what a screen reader finds on the page, as `role name`.
func (b *browser) names() map[string]bool {
	b.t.Helper()
	found := map[string]bool{}
	for _, n := range tell(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		if !n.Ignored && n.Role != nil && n.Name != nil {
			var role, name string
			if json.Unmarshal(n.Role.Value, &role) == nil && json.Unmarshal(n.Name.Value, &name) == nil {
				found[strings.TrimSpace(role+" "+strings.TrimSpace(name))] = true
			}
		}
	}
	return found
}
