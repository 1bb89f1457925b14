// Package gittest serves git repositories to tests as a host on the net does: over TLS, to who has its credential. It
// runs git's own http-backend. A Host ends with its test.
package gittest

import (
	"encoding/pem"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// The credential of every Host.
const (
	Username = "ana"
	Token    = "tok-5ecret-5ecret"
)

// Host is a server of repositories.
type Host struct {
	*httptest.Server
	Folder string // holds the repositories
	Name   string // with its port
	// Before is called with each request that has the credential; nil: nothing is. It is set before the first.
	Before func(*http.Request)

	home string

	mu    sync.Mutex
	asked []string // what came in the Authorization headers
}

// Serve needs git and its http-backend. It serves the repositories in folder; the git of who has the home folder home
// trusts its certificate.
func Serve(t testing.TB, folder, home string) *Host {
	t.Helper()
	h := &Host{Folder: folder, home: home}
	lacking := func(what string) {
		t.Helper()
		if os.Getenv("RUNNER_TEST_REQUIRE") != "" {
			t.Fatal(what + " is not installed")
		}
		t.Skip(what + " is not installed")
	}
	if _, err := exec.LookPath("git"); err != nil {
		lacking("git")
	}
	backend := filepath.Join(h.git(t, home, "--exec-path"), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		lacking("git http-backend")
	}
	serve := &cgi.Handler{
		Path: backend, Dir: folder, Stderr: t.Output(),
		Env: []string{"GIT_PROJECT_ROOT=" + folder, "GIT_HTTP_EXPORT_ALL=1", "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"},
	}
	h.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, given := r.BasicAuth()
		if given {
			h.mu.Lock()
			h.asked = append(h.asked, user+":"+password)
			h.mu.Unlock()
		}
		if user != Username || password != Token {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if h.Before != nil {
			h.Before(r)
		}
		serve.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	h.Name = strings.TrimPrefix(h.URL, "https://")
	ca := filepath.Join(folder, strings.ReplaceAll(h.Name, ":", "-")+".pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	h.git(t, home, "config", "--global", "http."+h.URL+".sslCAInfo", ca)
	return h
}

// Bare makes an empty repository that takes pushes, and gives its folder and its address.
func (h *Host) Bare(t testing.TB, name string) (path, address string) {
	t.Helper()
	path = filepath.Join(h.Folder, name)
	h.git(t, h.Folder, "init", "-q", "-b", "main", "--bare", name)
	h.git(t, path, "config", "http.receivepack", "true")
	return path, h.URL + "/" + name
}

// Heard are the credentials that came in, as username:password.
func (h *Host) Heard() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.asked...)
}

// git runs git as the one who has the home folder would.
func (h *Host) git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.home, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}
