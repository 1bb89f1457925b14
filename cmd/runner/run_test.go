package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/policy"
)

const testToken = "brb_token-of-the-test-that-is-long-enough"

// everyone allows every command.
type everyone struct{}

func (everyone) Decide(hub.Project, hub.Proposal) (policy.Decision, error) {
	return policy.Decision{Policy: policy.AutoApprove, Rule: "file_allow", Reason: "the test allows it"}, nil
}

// startHub is a hub on loopback with the project "p" in a folder below home, and a device key that may serve it. change
// adapts its configuration.
func startHub(t testing.TB, home string, change ...func(*hub.Config)) (h *hub.Hub, url, root, jwk string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(home, "project")
	server := httptest.NewUnstartedServer(nil)
	config := hub.Config{
		Projects:    []hub.Project{{ID: "p", Name: "Shop", Mode: hub.ModeRunner, Root: root}},
		Credentials: []hub.Credential{{ID: "token", Project: "p", Token: testToken}, {ID: "key-1", Key: public}},
		Decider:     everyone{}, ActionDeadline: time.Minute, MaxBody: 1 << 20,
		Hosts: []string{"127.0.0.1"}, Log: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&config)
	}
	h = hub.New(config)
	server.Config.Handler = h
	server.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := h.Close(ctx); err != nil {
			t.Error(err)
		}
		server.Close()
	})
	b64 := base64.RawURLEncoding.EncodeToString
	raw, err := json.Marshal(map[string]string{"kty": "OKP", "crv": "Ed25519", "x": b64(public), "d": b64(private.Seed()), "kid": "key-1"})
	if err != nil {
		t.Fatal(err)
	}
	return h, server.URL, root, string(raw)
}

// commandLine is a runner command that runs in a test.
type commandLine struct {
	stop context.CancelFunc
	done chan int
	mu   sync.Mutex
	out  bytes.Buffer
}

func (c *commandLine) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Write(p)
}

func (c *commandLine) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.String()
}

func start(t testing.TB, args ...string) *commandLine {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c := &commandLine{stop: cancel, done: make(chan int, 1)}
	go func() { c.done <- execute(ctx, args, strings.NewReader(""), c, c) }()
	t.Cleanup(func() {
		cancel()
		<-c.done
	})
	return c
}

func (c *commandLine) code(t testing.TB) int {
	t.Helper()
	select {
	case code := <-c.done:
		c.done <- code
		return code
	case <-time.After(60 * time.Second):
		t.Fatalf("the command did not end:\n%s", c)
		return -1
	}
}

// inHome gives the test a home and a working folder of its own.
func inHome(t testing.TB) string {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "INIT_CWD", "BRABO_ACCOUNT_TOKEN", "BRABO_API_URL"} {
		t.Setenv(name, "")
	}
	t.Chdir(home)
	return home
}

func proposeEcho(t *testing.T, h *hub.Hub) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	if err := h.WaitRunner(ctx, "p"); err != nil {
		t.Fatal(err)
	}
	a, err := h.Propose(hub.Proposal{ProjectID: "p", Type: "terminal", Command: "pwd"})
	if err != nil {
		t.Fatal(err)
	}
	if a, err = h.Wait(ctx, a.ID); err != nil || a.Status != hub.Executed || !strings.HasSuffix(a.Outcome.Output, "/project\n") {
		t.Fatalf("%+v %v", a, err)
	}
}

func TestRunServesOneProjectWithATokenUntilItIsStopped(t *testing.T) {
	home := inHome(t)
	h, url, root, _ := startHub(t, home)
	t.Setenv("BRABO_ACCOUNT_TOKEN", testToken)
	c := start(t, "run", "--project", "p", "--dir", root, "--api-url", url+"/")
	proposeEcho(t, h)
	c.stop()
	if code := c.code(t); code != exitOK {
		t.Errorf("exit %d:\n%s", code, c)
	}
	if strings.Contains(c.String(), testToken) {
		t.Error("the token is in the log")
	}
	if !strings.Contains(c.String(), "stopped") {
		t.Error(c)
	}
}

func TestTokenOnTheCommandLineWorksAndWarns(t *testing.T) {
	home := inHome(t)
	h, url, root, _ := startHub(t, home)
	c := start(t, "run", "--project", "p", "--dir", root, "--api-url", url, "--token", testToken)
	proposeEcho(t, h)
	if !strings.Contains(c.String(), "other users of this machine can read a token on the command line") {
		t.Error(c)
	}
}

func TestFolderOfTheExistingClientNeedsNoFlags(t *testing.T) {
	home := inHome(t)
	h, url, root, jwk := startHub(t, home)
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"brabo-runner.config.json":         `{"projectId":"p","apiUrl":"` + url + `"}`,
		"brabo-runner-device-key.jwk.json": jwk,
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	start(t, "run")
	proposeEcho(t, h)
}

func TestMachineKeyServesItsProjectsBelowTheBase(t *testing.T) {
	home := inHome(t)
	h, url, _, jwk := startHub(t, home)
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
	if info, err := os.Stat(filepath.Join(base, "p")); err != nil || !info.IsDir() {
		t.Error(err)
	}
}

func TestRefusedCredentialEndsAForegroundRun(t *testing.T) {
	home := inHome(t)
	_, url, root, _ := startHub(t, home)
	t.Setenv("BRABO_ACCOUNT_TOKEN", testToken+"-revoked")
	c := start(t, "run", "--project", "p", "--dir", root, "--api-url", url)
	if code := c.code(t); code != exitFail || !strings.Contains(c.String(), "runner: credential_unknown") {
		t.Errorf("exit %d:\n%s", code, c)
	}
}

func TestUnusableProxyAndCAFileAreNamed(t *testing.T) {
	home := inHome(t)
	t.Setenv("BRABO_ACCOUNT_TOKEN", testToken)
	for name, value := range map[string]string{"RUNNER_PROXY": "gopher://x", "RUNNER_CA_FILE": filepath.Join(home, "missing.pem")} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			c := start(t, "run", "--project", "p", "--dir", filepath.Join(home, "project"), "--api-url", "http://127.0.0.1:1")
			if code := c.code(t); code != exitUsage {
				t.Errorf("exit %d:\n%s", code, c)
			}
		})
	}
}

func TestMachineWithAProjectKeyIsToldSo(t *testing.T) {
	home := inHome(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"message":"bound to a project"}`))
	}))
	t.Cleanup(server.Close)
	_, _, _, jwk := startHub(t, t.TempDir())
	if err := os.WriteFile("brabo-runner-device-key.jwk.json", []byte(jwk), 0o600); err != nil {
		t.Fatal(err)
	}
	c := start(t, "run", "--api-url", server.URL, "--base", filepath.Join(home, "base"))
	c.heard(t, "not_a_member") // and it goes on asking: who can help may do so on the server
	c.stop()
	if code := c.code(t); code != exitOK {
		t.Errorf("exit %d:\n%s", code, c)
	}
}

// TestBaseThatBreaksARule: one that a person named ends the start, and one that the existing client's installer wrote is
// a warning where only one project is served.
func TestBaseThatBreaksARule(t *testing.T) {
	home := inHome(t)
	_, url, root, jwk := startHub(t, home)
	t.Setenv("BRABO_ACCOUNT_TOKEN", testToken)
	outside := t.TempDir()
	inside := filepath.Join(root, "base")
	for _, args := range [][]string{{"--base", outside}, {"--base", inside}} {
		c := start(t, append([]string{"run", "--project", "p", "--dir", root, "--api-url", url}, args...)...)
		if code := c.code(t); code != exitUsage || !strings.Contains(c.String(), "runner: base_invalid") {
			t.Errorf("%q: exit %d:\n%s", args, code, c)
		}
	}
	installed := filepath.Join(home, ".config", "brabo")
	if err := os.MkdirAll(installed, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(installed, "runner.json"), []byte(`{"base":"`+inside+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c := start(t, "run", "--project", "p", "--dir", filepath.Join(home, "project"), "--api-url", "http://127.0.0.1:1")
	for deadline := time.Now().Add(60 * time.Second); !strings.Contains(c.String(), "no project folders will be made here"); {
		if time.Now().After(deadline) {
			t.Fatalf("nothing was said:\n%s", c)
		}
		time.Sleep(time.Millisecond)
	}
	t.Setenv("BRABO_ACCOUNT_TOKEN", "")
	if err := os.WriteFile("brabo-runner-device-key.jwk.json", []byte(jwk), 0o600); err != nil {
		t.Fatal(err)
	}
	c = start(t, "run", "--api-url", url, "--base", outside)
	if code := c.code(t); code != exitUsage {
		t.Errorf("exit %d:\n%s", code, c)
	}
}
