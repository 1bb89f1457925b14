package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/runner/settings"
)

// pairWith keeps a pairing with the server at url for the user of the test.
func pairWith(t *testing.T, url, jwk string) pairing.Store {
	t.Helper()
	key, err := pairing.ParseKey([]byte(jwk))
	if err != nil {
		t.Fatal(err)
	}
	src, err := processSources()
	if err != nil {
		t.Fatal(err)
	}
	store := pairingStore(src, settings.Settings{})
	if err := store.Save(pairing.Pairing{Server: url, Name: "laptop", At: time.Now(), Key: key}); err != nil {
		t.Fatal(err)
	}
	return store
}

func addHere(t *testing.T, folder, id, root string) {
	t.Helper()
	if err := (pairing.LocalProjects{id: {Root: root}}).Write(folder); err != nil {
		t.Fatal(err)
	}
}

// heard waits until the command has written text.
func (c *commandLine) heard(t *testing.T, text string) {
	t.Helper()
	deadline := time.After(60 * time.Second)
	for !strings.Contains(c.String(), text) {
		select {
		case <-time.After(10 * time.Millisecond):
		case code := <-c.done:
			c.done <- code
			if !strings.Contains(c.String(), text) {
				t.Fatalf("exit %d without %q:\n%s", code, text, c)
			}
		case <-deadline:
			t.Fatalf("nothing says %q:\n%s", text, c)
		}
	}
}

func TestRunWithoutAnythingServesWhatIsPaired(t *testing.T) {
	home := inHome(t)
	h, url, root, jwk := startHub(t, home)
	store := pairWith(t, url, jwk)
	addHere(t, store.Folder, "p", root)
	c := start(t, "run")
	proposeEcho(t, h)
	c.stop()
	if code := c.code(t); code != exitOK {
		t.Errorf("exit %d:\n%s", code, c)
	}
}

func TestAFolderThatWasNotAddedHereIsNotServed(t *testing.T) {
	home := inHome(t)
	h, url, root, jwk := startHub(t, home)
	store := pairWith(t, url, jwk)
	addHere(t, store.Folder, "p", root+"-elsewhere")
	c := start(t, "run")
	c.heard(t, "root_not_confirmed_here")
	if h.RunnerConnected("p") {
		t.Error("it is served all the same")
	}
	if _, err := os.Stat(root); !os.IsNotExist(err) {
		t.Errorf("the folder was made: %v", err)
	}
}

// A credential that is no pairing takes the server's word for no folder, even where the same pair stands here.
func TestOnlyAPairingTakesAFolderFromTheServer(t *testing.T) {
	home := inHome(t)
	h, url, root, jwk := startHub(t, home)
	addHere(t, filepath.Join(home, ".config", "runner"), "p", root)
	if err := os.WriteFile("brabo-runner-device-key.jwk.json", []byte(jwk), 0o600); err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(home, "base")
	start(t, "run", "--api-url", url, "--base", base)
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	if err := h.WaitRunner(ctx, "p"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(root); !os.IsNotExist(err) {
		t.Errorf("the server's folder was made: %v", err)
	}
}

func TestAPairingThatCanNotBeUsedIsNamedOnlyWhereItCounts(t *testing.T) {
	home := inHome(t)
	_, url, root, jwk := startHub(t, home)
	store := pairWith(t, url, jwk)
	clone := store
	clone.Machine = "another"
	p, _, err := store.Load()
	if err != nil {
		t.Fatal(err)
	}
	if err := clone.Save(p); err != nil {
		t.Fatal(err)
	}
	src, err := processSources()
	if err != nil {
		t.Fatal(err)
	}
	if pairing.MachineID() != "" {
		_, err = resolveRun(settings.RunFlags{}, src, settings.Settings{})
		failuretest.Produced(t, err, failure.MachineChanged)
	}
	served, err := resolveRun(settings.RunFlags{Project: "p", Dir: root, Token: testToken, APIURL: url}, src, settings.Settings{})
	if err != nil || served.Paired() {
		t.Errorf("%+v, %v", served.Run, err)
	}
}
