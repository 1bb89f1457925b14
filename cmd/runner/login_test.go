package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub"
)

const ownersToken = "rnp_token-of-the-owner-of-the-test"

// quickHub is startHub for logins: it has an owner, and is asked each second.
func quickHub(t *testing.T, home string) (h *hub.Hub, address, root, jwk string) {
	return startHub(t, home, func(c *hub.Config) { c.PersonToken, c.PollInterval = ownersToken, time.Second })
}

// decide answers the machine that waits under a code, as the hub's owner.
func decide(t *testing.T, address, code, decision string) {
	t.Helper()
	if err := decideLogin(address, ownersToken, code, decision); err != nil {
		t.Fatal(err)
	}
}

// decideLogin is the form of the hub's page for machines that wait.
func decideLogin(address, token, code, decision string) error {
	form := url.Values{"user_code": {code}, "decision": {decision}}
	r, err := http.NewRequest("POST", address+"/device", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%d %v %s", resp.StatusCode, err, body)
	}
	return nil
}

// waitingLogin starts a login and gives it with the code that it shows.
func waitingLogin(t *testing.T, args ...string) (*commandLine, map[string]string) {
	t.Helper()
	c := start(t, append([]string{"login", "--json"}, args...)...)
	c.heard(t, "\n")
	line, _, _ := strings.Cut(c.String(), "\n")
	var said map[string]string
	if err := json.Unmarshal([]byte(line), &said); err != nil || said["event"] != "code" {
		t.Fatalf("%v: %s", err, c)
	}
	return c, said
}

// loggedIn is a login that the owner approves.
func loggedIn(t *testing.T, address string, args ...string) map[string]string {
	t.Helper()
	c, code := waitingLogin(t, append([]string{address, "--no-browser"}, args...)...)
	decide(t, address, code["user_code"], "approve")
	if got := c.code(t); got != exitOK {
		t.Fatalf("exit %d:\n%s", got, c)
	}
	lines := strings.Split(strings.TrimSpace(c.String()), "\n")
	var said map[string]string
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &said); err != nil || said["event"] != "paired" || said["fingerprint"] != code["fingerprint"] {
		t.Fatalf("%v: %s", err, c)
	}
	return said
}

// failing is the error of one command.
func failing(t *testing.T, cmd *cobra.Command, args ...string) error {
	t.Helper()
	cmd.SetArgs(append([]string{}, args...)) // without any it would take those of the test
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	return cmd.ExecuteContext(t.Context())
}

func identityOf(t *testing.T) (code int, me identity) {
	t.Helper()
	code, out, errOut := runs(t, "whoami", "--json")
	if out == "" {
		return code, identity{Standing: errOut}
	}
	if err := json.Unmarshal([]byte(out), &me); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return code, me
}

// TestLoginIsEnoughForARun plays the real commands against a real hub: log in, run, log out.
func TestLoginIsEnoughForARun(t *testing.T) {
	home := inHome(t)
	h, address, root, _ := quickHub(t, home)
	paired := loggedIn(t, address)
	file := filepath.Join(home, ".config", "runner", "pairing.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" || paired["kept"] != file {
		t.Errorf("%v %v %v", info, err, paired)
	}
	addHere(t, filepath.Dir(file), "p", root)
	daemon := start(t, "run")
	proposeEcho(t, h)
	if code, me := identityOf(t); code != exitOK || me.Standing != "good" || me.Server != address || me.Owner != "owner" || me.Fingerprint != paired["fingerprint"] {
		t.Errorf("exit %d: %+v", code, me)
	}
	if _, out, _ := runs(t, "whoami"); !strings.Contains(out, "standing   good") {
		t.Error(out)
	}
	code, out, errOut := runs(t, "logout", "--json")
	if code != exitOK || !strings.Contains(out, `"revoked":true`) {
		t.Fatal(code, out, errOut)
	}
	for deadline := time.Now().Add(60 * time.Second); h.RunnerConnected("p"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the revoked key's connection lives")
		}
	}
	daemon.heard(t, string(failure.CredentialRevoked))
	if code, out, _ := runs(t, "logout"); code != exitOK || !strings.Contains(out, "not paired") {
		t.Error(code, out)
	}
	if code, me := identityOf(t); code != exitLoggedOut || !strings.Contains(me.Standing, string(failure.NotLoggedIn)) {
		t.Errorf("exit %d: %+v", code, me)
	}
}

func TestRefusedLoginKeepsNothing(t *testing.T) {
	home := inHome(t)
	_, address, _, _ := quickHub(t, home)
	c, code := waitingLogin(t, address, "--no-browser")
	decide(t, address, code["user_code"], "deny")
	if got := c.code(t); got != exitFail || !strings.Contains(c.String(), string(failure.LoginDenied)) {
		t.Errorf("exit %d:\n%s", got, c)
	}
	if _, err := os.Stat(filepath.Join(home, ".config", "runner", "pairing.json")); !os.IsNotExist(err) {
		t.Error(err)
	}
}

func TestSecondLoginReplacesTheKeyAndRevokesTheFirst(t *testing.T) {
	home := inHome(t)
	h, address, _, _ := quickHub(t, home)
	first := loggedIn(t, address)
	second := loggedIn(t, address)
	if first["id"] == second["id"] || first["fingerprint"] == second["fingerprint"] {
		t.Error("the key is the same", first, second)
	}
	err := h.RevokeDaemon(hub.Principal{Kind: "person", ID: "owner", Role: "owner"}, second["id"])
	if err != nil {
		t.Fatal(err)
	}
	if code, me := identityOf(t); code != exitLoggedOut || me.Standing != string(failure.CredentialRevoked) {
		t.Errorf("exit %d: %+v", code, me)
	}
	_, other, _, _ := startHub(t, t.TempDir())
	failuretest.Produced(t, failing(t, newLoginCommand(), other, "--no-browser"), failure.LoginElsewhere)
	_, err = loginServer(t.Context(), "ftp://hub.example", "", "")
	failuretest.Produced(t, err, failure.Usage)
}

func TestStandingsAreToldApart(t *testing.T) {
	home := inHome(t)
	_, address, _, jwk := quickHub(t, home)
	skewed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer skewed.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer silent.Close()
	expired := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"message":"x","failure":{"name":"credential_expired"}}`)
	}))
	defer expired.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, c := range []struct {
		server, jwk string
		code        int
		want        failure.Name
	}{
		{address, jwk, exitOK, "good"},
		{address, strings.Replace(jwk, "key-1", "key-2", 1), exitLoggedOut, failure.CredentialUnknown},
		{skewed.URL, jwk, exitDegraded, failure.ClockSkew},
		{expired.URL, jwk, exitLoggedOut, failure.CredentialExpired},
		{silent.URL, jwk, exitLoggedOut, failure.TicketRefused},
		{gone.URL, jwk, exitNotRunning, failure.ServerUnreachable},
	} {
		store := pairWith(t, c.server, c.jwk)
		if code, me := identityOf(t); code != c.code || me.Standing != string(c.want) {
			t.Errorf("%s: exit %d, %+v", c.want, code, me)
		}
		if c.server != gone.URL {
			continue
		}
		failuretest.Produced(t, failing(t, newLogoutCommand()), failure.LogoutUnconfirmed)
		if _, err := os.Stat(store.Path()); !os.IsNotExist(err) {
			t.Errorf("it is still here: %v", err)
		}
		if code, out, _ := runs(t, "logout"); code != exitOK || !strings.Contains(out, "not paired") {
			t.Error(code, out)
		}
	}
}

func TestProjectTokenIsCheckedAndKeptNowhere(t *testing.T) {
	home := inHome(t)
	_, address, _, _ := quickHub(t, home)
	file := filepath.Join(home, "token")
	if err := os.WriteFile(file, []byte(testToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{}, {"--project", "p"}} {
		code, out, errOut := runs(t, append([]string{"login", address, "--token-file", file}, args...)...)
		if code != exitOK || !strings.Contains(out, "device-key create") || strings.Contains(out+errOut, testToken) {
			t.Error(code, out, errOut)
		}
	}
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/runner/projects" && r.Header.Get("Authorization") == "Bearer "+testToken {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		http.NotFound(w, r)
	}))
	defer old.Close()
	t.Setenv("BRABO_ACCOUNT_TOKEN", testToken)
	if code, out, errOut := runs(t, "login", old.URL, "--no-browser", "--json"); code != exitOK || !strings.Contains(out, `"kept":false`) {
		t.Error(code, out, errOut)
	}
	t.Setenv("BRABO_ACCOUNT_TOKEN", "")
	if code, _, errOut := runs(t, "login", old.URL, "--no-browser"); code != exitFail || !strings.Contains(errOut, string(failure.LoginUnsupported)) {
		t.Error(code, errOut)
	}
	if err := os.WriteFile(file, []byte("brb_another-token-that-nobody-knows"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errOut := runs(t, "login", address, "--token-file", file); code != exitFail || !strings.Contains(errOut, string(failure.CredentialUnknown)) {
		t.Error(code, errOut)
	}
	err := filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == file {
			return err
		}
		raw, err := os.ReadFile(path)
		if strings.Contains(string(raw), testToken) {
			t.Errorf("%s holds the token", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
