package pairing

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/settings"
)

// TestAProxysRefusalIsNamedAsTheProxys asks servers with and without TLS through a proxy that has its own word.
func TestAProxysRefusalIsNamedAsTheProxys(t *testing.T) {
	for _, c := range []struct {
		server       string
		status       int
		want         failure.Name
		cause, never string
	}{
		{"https://server.invalid", 407, failure.ProxyRefused, "name and a password", "server does not accept"},
		{"https://server.invalid", 403, failure.ProxyRefused, "does not let this machine", "role"},
		{"https://server.invalid", 502, failure.ProxyRefused, "502", "the network is down"},
		{"http://server.invalid", 407, failure.ProxyRefused, "name and a password", "does not have here"},
		// Without TLS nothing tells the proxy's word from the server's, but for the web page.
		{"http://server.invalid", 403, failure.NotMember, "in its place", "another server"},
	} {
		proxy := httptest.NewServer(saying(c.status, "text/html", "<html>no</html>"))
		t.Cleanup(proxy.Close)
		through, err := url.Parse(proxy.URL)
		if err != nil {
			t.Fatal(err)
		}
		through.User = url.UserPassword("ana", "geheim")
		transport, err := NewTransport(through.String(), "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(transport.HTTP.CloseIdleConnections)
		client := Client{BaseURL: c.server, Credential: Token{settings.NewSecret(secretToken)}, HTTP: &http.Client{Transport: transport.HTTP}}
		_, err = client.Ticket(t.Context(), "p1")
		f := failuretest.Produced(t, err, c.want)
		said := err.Error()
		if !strings.Contains(said, c.cause) || strings.Contains(said, c.never) || !strings.Contains(said, through.Host) || strings.Contains(said, "geheim") {
			t.Errorf("%s, %d: %v", c.server, c.status, f)
		}
	}
}
