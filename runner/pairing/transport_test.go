package pairing

import (
	"crypto/tls"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/settings"
)

func TestAnExtraAuthorityIsTrusted(t *testing.T) {
	server := httptest.NewTLSServer(saying(200, "application/json", "[]"))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
	transport, err := NewTransport("", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(transport.HTTP.CloseIdleConnections)
	c := Client{BaseURL: server.URL, Credential: Token{settings.NewSecret(secretToken)}, HTTP: &http.Client{Transport: transport.HTTP}}
	if _, _, err := c.Projects(t.Context()); err != nil {
		t.Error(err)
	}
	if len(transport.TLS.NextProtos) != 0 || transport.TLS.RootCAs == nil || transport.TLS.MinVersion != tls.VersionTLS12 {
		t.Errorf("the configuration for WebSocket: %v", transport.TLS.NextProtos)
	}
}

func TestABadAuthorityFileIsNamed(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.pem")
	if err := os.WriteFile(empty, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{empty, filepath.Join(dir, "missing.pem"), dir} {
		_, err := NewTransport("", file)
		failuretest.Produced(t, err, failure.CAFileInvalid)
	}
}

func TestRequestsGoThroughTheProxy(t *testing.T) {
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.RequestURI)
		saying(200, "application/json", "[]")(w, r)
	}))
	t.Cleanup(proxy.Close)
	transport, err := NewTransport(proxy.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(transport.HTTP.CloseIdleConnections)
	c := Client{BaseURL: "http://server.invalid", Credential: Token{settings.NewSecret(secretToken)}, HTTP: &http.Client{Transport: transport.HTTP}}
	if _, _, err := c.Projects(t.Context()); err != nil {
		t.Error(err)
	}
	if len(asked) != 1 || asked[0] != "http://server.invalid/runner/projects" {
		t.Errorf("the proxy was asked for %v", asked)
	}
	for _, local := range []string{"http://localhost:1/x", "http://127.0.0.1/", "https://[::1]:2/"} {
		if through, err := transport.Proxy(httptest.NewRequest("GET", local, nil)); through != nil || err != nil {
			t.Errorf("%s goes through %v, %v", local, through, err)
		}
	}
}

func TestABadProxyIsNamedWithoutItsPassword(t *testing.T) {
	for _, proxy := range []string{"ftp://ana:geheim@proxy", "proxy:3128", "http://", "http://ana:geheim@\x7f"} {
		_, err := NewTransport(proxy, "")
		f := failuretest.Produced(t, err, failure.ProxyInvalid)
		if strings.Contains(f.Error(), "geheim") {
			t.Errorf("the password shows: %v", f)
		}
	}
}

func TestTheWebSocketAddressIsCompleted(t *testing.T) {
	for address, want := range map[string]string{
		"wss://e.example/runner":      "wss://e.example/runner/websocket?ticket=a%2Bb&vsn=2.0.0",
		"ws://e.example:4000/runner/": "ws://e.example:4000/runner/websocket?ticket=a%2Bb&vsn=2.0.0",
		"http://e.example/runner":     "ws://e.example/runner/websocket?ticket=a%2Bb&vsn=2.0.0",
		"https://e.example":           "wss://e.example/websocket?ticket=a%2Bb&vsn=2.0.0",
		"wss://e.example/r?x=1#y":     "wss://e.example/r/websocket?ticket=a%2Bb&vsn=2.0.0&x=1",
		"http://[":                    "",
	} {
		if got := WebSocketURL(address, "a+b"); got != want {
			t.Errorf("%s becomes %s, want %s", address, got, want)
		}
	}
}
