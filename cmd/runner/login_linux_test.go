package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLoginTriesTheBrowserAndGivesItNoSecret(t *testing.T) {
	home := inHome(t)
	_, address, _, _ := quickHub(t, home)
	bin := filepath.Join(home, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	opened := filepath.Join(home, "opened")
	browser := "#!/bin/sh\nprintf '%s %s' \"$1\" \"$BRABO_ACCOUNT_TOKEN\" >'" + opened + ".part' && mv '" + opened + ".part' '" + opened + "'\n"
	if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(browser), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("DISPLAY", ":0")
	t.Setenv("BRABO_ACCOUNT_TOKEN", testToken)
	c, code := waitingLogin(t, address)
	var said []byte
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		var err error
		if said, err = os.ReadFile(opened); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	if want := code["verification_uri_complete"] + " "; string(said) != want || !strings.HasPrefix(want, address+"/device?user_code=") {
		t.Errorf("the browser was given %q, not %q", said, want)
	}
	decide(t, address, code["user_code"], "approve")
	if got := c.code(t); got != exitOK {
		t.Errorf("exit %d:\n%s", got, c)
	}
	if words := browserCommand("http://x.example/", func(string) string { return "" }); words != nil {
		t.Errorf("without a desktop: %v", words)
	}
}

func TestLoginRepairsLooseModesAndSaysSo(t *testing.T) {
	home := inHome(t)
	_, address, _, jwk := quickHub(t, home)
	store := pairWith(t, address, jwk)
	for path, mode := range map[string]os.FileMode{store.Path(): 0o644, store.Folder: 0o755} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if code, _, errOut := runs(t, "whoami"); code != exitOK || strings.Count(errOut, "pairing_modes") != 2 {
		t.Error(code, errOut)
	}
	for path, want := range map[string]os.FileMode{store.Path(): 0o600, store.Folder: 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, info, err)
		}
	}
	if code, _, errOut := runs(t, "whoami"); code != exitOK || errOut != "" {
		t.Error("again", code, errOut)
	}
}
