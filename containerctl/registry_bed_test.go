package containerctl

// The real component here is Debian's docker-registry.

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/api/types/registry"
	"github.com/moby/moby/client"
)

// The login of the registry that wants one, and its password as htpasswd keeps it.
const (
	login    = "person"
	password = "not-so-secret"
	htpasswd = login + ":$2b$04$abcdefghijklmnopqrstuupN7ltd2qQsujJZP4fxeJN6P5UPHgpJm\n"
)

// freeAddress is a loopback address on which nobody listens.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// startRegistry starts a registry and gives its address.
func startRegistry(t testing.TB, private bool) string {
	t.Helper()
	program, dir, address := needProgram(t, "docker-registry"), shortDir(t), freeAddress(t)
	config := fmt.Sprintf("version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: %s/data\nhttp:\n  addr: %s\n", dir, address)
	if private {
		write(t, filepath.Join(dir, "htpasswd"), htpasswd)
		config += fmt.Sprintf("auth:\n  htpasswd:\n    realm: test\n    path: %s/htpasswd\n", dir)
	}
	write(t, filepath.Join(dir, "config.yml"), config)
	cmd := exec.Command(program, "serve", filepath.Join(dir, "config.yml"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	poll(t, "the registry", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return address
}

// push gives a registry the bed's image under a repository and tag of its own.
func (b *bed) push(t testing.TB, address, repository string, auth registry.AuthConfig) string {
	t.Helper()
	name := address + "/" + repository
	if _, err := b.raw.ImageTag(t.Context(), client.ImageTagOptions{Source: b.image, Target: name}); err != nil {
		t.Fatal(err)
	}
	encoded, err := authconfig.Encode(auth)
	if err != nil {
		t.Fatal(err)
	}
	pushed, err := b.raw.ImagePush(t.Context(), name, client.ImagePushOptions{RegistryAuth: encoded})
	if err != nil {
		t.Fatal(err)
	}
	if err := pushed.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.forget(t, name)
	return name
}

// forget takes an image out of the engine, with the bed's own so that its layers have to be pulled.
func (b *bed) forget(t testing.TB, name string) {
	t.Helper()
	for _, n := range []string{name, b.image} {
		_, _ = b.raw.ImageRemove(context.Background(), n, client.ImageRemoveOptions{Force: true, PruneChildren: true})
	}
}

// front stands before a registry and does what a test wants of it.
type front struct {
	address string

	mu       sync.Mutex // guards the rest
	answer   int        // this status in place of the registry's answer, answers times
	answers  int
	hold     chan struct{} // blobs wait until it is closed
	held     chan struct{} // gets a value for each blob that waits
	requests int           // for blobs
}

func startFront(t testing.TB, behind string) *front {
	t.Helper()
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: behind})
	proxy.ErrorLog = nil
	proxy.ModifyResponse = func(*http.Response) error { return nil }
	f := &front{held: make(chan struct{}, 100)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.intercept(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() { f.release(); s.CloseClientConnections(); s.Close() })
	f.address = strings.TrimPrefix(s.URL, "http://")
	return f
}

// intercept reports whether the registry itself is to answer.
func (f *front) intercept(w http.ResponseWriter, r *http.Request) bool {
	blob := r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/")
	f.mu.Lock()
	hold := f.hold
	if blob {
		f.requests++
	}
	status := 0
	if f.answers > 0 && strings.Contains(r.URL.Path, "/manifests/") {
		f.answers--
		status = f.answer
	}
	f.mu.Unlock()
	if status != 0 {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, http.StatusText(status))
		return false
	}
	if blob && hold != nil {
		f.held <- struct{}{}
		select {
		case <-hold:
		case <-r.Context().Done():
			return false
		}
	}
	return true
}

// slow makes blobs wait until release.
func (f *front) slow() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hold, f.requests = make(chan struct{}), 0
}

func (f *front) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hold != nil {
		close(f.hold)
		f.hold = nil
	}
}

// fail gives the next n questions for a manifest this status.
func (f *front) fail(status, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer, f.answers = status, n
}

func (f *front) blobs() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests
}

// storedLogin is docker's config.json with a login for address.
func storedLogin(address, password string) string {
	return fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, address, base64.StdEncoding.EncodeToString([]byte(login+":"+password)))
}
