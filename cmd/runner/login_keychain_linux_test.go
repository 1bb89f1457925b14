package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/pairing"
)

// inKeychainSession is the variable under which a test runs in a session that has a keychain.
const inKeychainSession = "RUNNER_TEST_KEYCHAIN_SESSION"

// TestLoginKeepsTheKeyInTheKeychain needs gnome-keyring and dbus-run-session: it starts a session with a keychain of its
// own.
func TestLoginKeepsTheKeyInTheKeychain(t *testing.T) {
	if os.Getenv(inKeychainSession) != "" {
		loginWithKeychain(t)
		return
	}
	for _, program := range []string{"dbus-run-session", "gnome-keyring-daemon"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("RUNNER_TEST_REQUIRE") == "1" {
				t.Fatal(err)
			}
			t.Skip("there is no " + program)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	home := t.TempDir()
	runtimeDir := filepath.Join(home, "runtime")
	if err := os.Mkdir(runtimeDir, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, "dbus-run-session", "--", "sh", "-c",
		`printf secret | gnome-keyring-daemon --unlock --components=secrets >/dev/null && exec "$0" -test.run '^TestLoginKeepsTheKeyInTheKeychain$' -test.v`, os.Args[0])
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_RUNTIME_DIR="+runtimeDir, "XDG_DATA_HOME="+home+"/data", inKeychainSession+"=1")
	cmd.WaitDelay = 10 * time.Second // the keychain has our output open, and ends with its session
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func loginWithKeychain(t *testing.T) {
	home := inHome(t)
	h, address, root, _ := quickHub(t, home)
	paired := loggedIn(t, address, "--keychain")
	folder := filepath.Join(home, ".config", "runner")
	if paired["kept"] != "the system's keychain" {
		t.Error(paired)
	}
	for _, name := range []string{"pairing.json", "pairing.last-good.json"} {
		raw, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || strings.Contains(string(raw), `"d":`) {
			t.Errorf("%s: %v\n%s", name, err, raw)
		}
	}
	addHere(t, folder, "p", root)
	daemon := start(t, "run")
	proposeEcho(t, h)
	daemon.stop()
	if code := daemon.code(t); code != exitOK {
		t.Errorf("exit %d:\n%s", code, daemon)
	}
	if err := (pairing.SystemKeychain{}).Delete(paired["id"] + " " + address); err != nil {
		t.Fatal(err)
	}
	if code, _, errOut := runs(t, "whoami"); code != exitLoggedOut || !strings.Contains(errOut, string(failure.KeychainKeyMissing)) {
		t.Error(code, errOut)
	}
	if code, _, errOut := runs(t, "run"); code == exitOK || !strings.Contains(errOut, string(failure.KeychainKeyMissing)) {
		t.Error(code, errOut)
	}
	again := loggedIn(t, address, "--keychain")
	if code, out, errOut := runs(t, "logout"); code != exitOK {
		t.Error(code, out, errOut)
	}
	if _, err := (pairing.SystemKeychain{}).Get(again["id"] + " " + address); err != pairing.ErrNoSuchKey {
		t.Errorf("the key is still there: %v", err)
	}
}
