package pairing

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// inSession is the variable under which a test runs in a session that has a keychain, or in one that has none.
const inSession = "RUNNER_TEST_KEYCHAIN"

// TestTheSystemsKeychainKeepsTheKey needs gnome-keyring and dbus-run-session: it starts a session with a keychain of
// its own.
func TestTheSystemsKeychainKeepsTheKey(t *testing.T) {
	switch os.Getenv(inSession) {
	case "there":
		keepInKeychain(t)
		return
	case "absent":
		s := Store{Folder: t.TempDir(), UseKeychain: true, Keychain: SystemKeychain{}}
		failuretest.Produced(t, s.Ready(), failure.KeychainUnavailable)
		failuretest.Produced(t, s.Save(testPairing(t)), failure.KeychainUnavailable)
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
	const self = `exec "$0" -test.run '^TestTheSystemsKeychainKeepsTheKey$' -test.v`
	for name, command := range map[string][]string{
		"there":  {"dbus-run-session", "--", "sh", "-c", "printf secret | gnome-keyring-daemon --unlock --components=secrets >/dev/null && " + self, os.Args[0]},
		"absent": {"sh", "-c", self, os.Args[0]},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			home := t.TempDir()
			runtimeDir := filepath.Join(home, "runtime")
			if err := os.Mkdir(runtimeDir, 0o700); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(ctx, command[0], command[1:]...)
			cmd.Env = append(os.Environ(), "HOME="+home, "XDG_RUNTIME_DIR="+runtimeDir, "XDG_DATA_HOME="+home+"/data",
				"DBUS_SESSION_BUS_ADDRESS=unix:path="+home+"/no-bus", inSession+"="+name)
			cmd.WaitDelay = 10 * time.Second // the keychain has our output open, and ends with its session
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
}

func keepInKeychain(t *testing.T) {
	s := Store{Folder: t.TempDir(), Machine: "this-machine", UseKeychain: true, Keychain: SystemKeychain{}}
	if err := s.Ready(); err != nil {
		t.Fatal(err)
	}
	want := testPairing(t)
	if err := s.Save(want); err != nil {
		t.Fatal(err)
	}
	got, notices := load(t, s)
	if !got.Keychain || !got.Key.private.Equal(want.Key.private) || len(notices) != 0 {
		t.Errorf("%+v, %v", got, notices)
	}
	if err := s.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := s.Keychain.Get(keychainName(want.Server, want.Key.ID())); err != ErrNoSuchKey {
		t.Errorf("the key is still there: %v", err)
	}
}
