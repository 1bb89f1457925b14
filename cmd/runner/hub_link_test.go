package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/settings"
)

// signsIn reports whether a link signs a browser in.
func signsIn(t *testing.T, link string) bool {
	t.Helper()
	defer http.DefaultClient.CloseIdleConnections()
	resp, err := http.Get(link)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK && len(resp.Cookies()) == 1
}

// runs is one command line in this process.
func runs(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	code = execute(context.Background(), args, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

func TestHubGivesLinksToItsPage(t *testing.T) {
	home := inHome(t)
	p := startHubCommand(t, filepath.Join(home, ".local", "share", "runner", "hub"), settings.Hub{Listen: "127.0.0.1:0"})
	code, out, errOut := runs(t, "hub", "link")
	link := strings.TrimSpace(out)
	if code != exitOK || !strings.HasPrefix(link, p.url+"/login?code=") || !strings.Contains(errOut, "once, until") {
		t.Fatalf("%d %q %q", code, out, errOut)
	}
	if !signsIn(t, link) || signsIn(t, link) {
		t.Error("it is not for one use")
	}
	code, out, _ = runs(t, "hub", "link", "--json")
	var said struct{ URL, ExpiresAt string }
	if err := json.Unmarshal([]byte(out), &said); code != exitOK || err != nil || said.ExpiresAt == "" || !signsIn(t, said.URL) {
		t.Errorf("%d %q %v", code, out, err)
	}
	p.stop()
	if err := <-p.done; err != nil {
		t.Error(err)
	}
	if !regexp.MustCompile(`http://127\.0\.0\.1:\d+/login\?code=[A-Z0-9]{26}\n`).MatchString(p.said.String()) {
		t.Errorf("who started it is not told: %q", p.said.String())
	}
	var buffer bytes.Buffer
	if watcher(&buffer) != nil {
		t.Error("what is no terminal is watched")
	}
	_, _, errOut = runs(t, "hub", "link")
	if !strings.Contains(errOut, string(failure.HubNotRunning)) {
		t.Errorf("after its end: %q", errOut)
	}
	flags := hubFlags{}
	_, err := flags.client()
	failuretest.Produced(t, err, failure.HubNotRunning)
}
