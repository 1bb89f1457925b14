package page

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
)

// ask gets path from the handler, with headers as name and value in turn.
func ask(t *testing.T, method, path string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestEveryAnswerCarriesThePolicy(t *testing.T) {
	for _, path := range []string{"/", "/assets/main.js", "/assets/page.css", "/assets/icon.svg", "/assets/nothing", "/elsewhere"} {
		h := ask(t, "GET", path).Header
		if h.Get("Content-Security-Policy") != Policy || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s carries %v", path, h)
		}
	}
}

func TestFilesHaveTheTypesThatBrowsersDemand(t *testing.T) {
	for path, want := range map[string]string{
		"/": "text/html; charset=utf-8", "/assets/main.js": "text/javascript; charset=utf-8",
		"/assets/page.css": "text/css; charset=utf-8", "/assets/icon.svg": "image/svg+xml",
	} {
		r := ask(t, "GET", path)
		if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != want {
			t.Errorf("%s: %d %q, want %q", path, r.StatusCode, r.Header.Get("Content-Type"), want)
		}
	}
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	for _, path := range []string{"/assets/", "/assets/index.html", "/assets/../page.go", "/index.html", "/templates/device.html"} {
		if r := ask(t, "GET", path); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
	if r := ask(t, "POST", "/"); r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST /: %d", r.StatusCode)
	}
}

func TestAPageThatTheBrowserHasIsNotSentAgain(t *testing.T) {
	for _, encoding := range []string{"", "gzip"} {
		first := ask(t, "GET", "/", "Accept-Encoding", encoding)
		tag := first.Header.Get("ETag")
		if tag == "" || first.Header.Get("Cache-Control") != "no-cache" {
			t.Fatalf("headers %v", first.Header)
		}
		again := ask(t, "GET", "/", "Accept-Encoding", encoding, "If-None-Match", tag)
		if again.StatusCode != http.StatusNotModified || body(t, again) != "" {
			t.Errorf("with the tag: %d", again.StatusCode)
		}
		if other := ask(t, "GET", "/", "Accept-Encoding", encoding, "If-None-Match", `"other"`); other.StatusCode != http.StatusOK {
			t.Errorf("with another tag: %d", other.StatusCode)
		}
	}
}

func TestTextIsCompressedForWhoeverTakesIt(t *testing.T) {
	plain := ask(t, "GET", "/assets/page.css")
	want := body(t, plain)
	for accepted, zipped := range map[string]bool{
		"gzip": true, "br, GZIP;q=0.5": true, "gzip;q=0": false, "gzip; q=0.0": false, "identity": false, "xgzip": false,
	} {
		r := ask(t, "GET", "/assets/page.css", "Accept-Encoding", accepted)
		if got := r.Header.Get("Content-Encoding") == "gzip"; got != zipped {
			t.Errorf("%q: compressed %v", accepted, got)
			continue
		}
		if r.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: Vary %q", accepted, r.Header.Get("Vary"))
		}
		if !zipped {
			continue
		}
		if r.Header.Get("ETag") == plain.Header.Get("ETag") {
			t.Errorf("%q: both encodings have one tag", accepted)
		}
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(z)
		if err != nil || string(raw) != want {
			t.Errorf("%q: unpacked to %d bytes, %v", accepted, len(raw), err)
		}
	}
}

// The policy forbids them, so a page that had them would be broken in a browser and right in a reader's eyes.
func TestNothingIsInlineAndNothingIsElsewhere(t *testing.T) {
	entries, err := assets.ReadDir("assets")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) < 10 {
		t.Fatalf("only %d assets", len(entries))
	}
	forbidden := map[string]*regexp.Regexp{
		".html": regexp.MustCompile(`(?i)<script(?:[^>]*[^>\w]src=)?[^>]*>[^<]|\son\w+=|\sstyle=|<style|https?://`),
		".js":   regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function|setHTML|\.style\b|https?://|srcdoc`),
		".css":  regexp.MustCompile(`(?i)@import|url\(`),
	}
	for _, e := range entries {
		raw, err := assets.ReadFile("assets/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if re := forbidden[path.Ext(e.Name())]; re != nil {
			if found := re.Find(raw); found != nil {
				t.Errorf("%s has %q", e.Name(), found)
			}
		}
		if lines := strings.Count(string(raw), "\n"); path.Ext(e.Name()) == ".js" && lines > 300 {
			t.Errorf("%s has %d lines", e.Name(), lines)
		}
	}
}

func TestSmallPagesShowWhatStrangersSentAsText(t *testing.T) {
	const evil = "<img src=x onerror=alert(1)>\u202e"
	const shown = "&lt;img src=x onerror=alert(1)&gt;&lt;U&#43;202E&gt;"
	f := failure.New(failure.BadRequest, evil)
	for name, c := range map[string]struct {
		write func(http.ResponseWriter)
		want  []string
	}{
		"the code is asked for": {func(w http.ResponseWriter) {
			WriteDevice(w, http.StatusOK, Device{Problem: evil})
		}, []string{shown, `name="user_code"`, `role="alert"`}},
		"the machine is shown": {func(w http.ResponseWriter) {
			WriteDevice(w, http.StatusOK, Device{Code: "WDJB-MJHT", Machine: evil, Fingerprint: "SHA256:abc", Hidden: map[string]string{"token": `a"b`}})
		}, []string{shown, "WDJB-MJHT", "SHA256:abc", `name="token" value="a&#34;b"`, `value="approve"`, `value="deny"`}},
		"the machine is in": {func(w http.ResponseWriter) {
			WriteDevice(w, http.StatusOK, Device{Code: "WDJB-MJHT", Machine: evil, Outcome: DeviceApproved})
		}, []string{shown, "is in"}},
		"the machine was refused": {func(w http.ResponseWriter) {
			WriteDevice(w, http.StatusOK, Device{Outcome: DeviceDenied})
		}, []string{"The machine was refused"}},
		"signed in":  {WriteSignedIn, []string{`<meta http-equiv="refresh" content="0; url=/">`, `<a href="/">`}},
		"signing in": {func(w http.ResponseWriter) { WriteSignIn(w, http.StatusUnauthorized, evil) }, []string{shown, "runner hub"}},
		"a failure":  {func(w http.ResponseWriter) { WriteFailure(w, http.StatusBadRequest, f) }, []string{shown, string(failure.BadRequest)}},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			c.write(w)
			r := w.Result()
			if r.Header.Get("Content-Security-Policy") != Policy || r.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("headers %v", r.Header)
			}
			got := body(t, r)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is missing in\n%s", want, got)
				}
			}
			if strings.Contains(got, "<img src=x") || strings.Contains(got, "\u202e") {
				t.Errorf("it came through as it was:\n%s", got)
			}
		})
	}
}
