package pairing

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// largestCAFile is more than any bundle of certificates has, in bytes.
const largestCAFile = 16 << 20

// Transport is one policy about proxies and certificates for HTTP and WebSocket alike.
type Transport struct {
	HTTP  *http.Transport
	Proxy func(*http.Request) (*url.URL, error)
	// TLS is for WebSocket. HTTP has a copy: it adds HTTP/2 to its own, over which no WebSocket can be opened.
	TLS *tls.Config
}

// NewTransport makes the policy from the settings `proxy` and `ca_file`; empty ones mean what the environment and the
// system say. A proxy that is set does not stand before this machine's own loopback addresses. It fails with
// ProxyInvalid and CAFileInvalid.
func NewTransport(proxy, caFile string) (Transport, error) {
	t := Transport{Proxy: http.ProxyFromEnvironment, TLS: &tls.Config{MinVersion: tls.VersionTLS12}}
	if proxy != "" {
		through, err := url.Parse(proxy)
		if err != nil || through.Host == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, through.Scheme) {
			return Transport{}, failure.New(failure.ProxyInvalid, "`proxy`") // the value may hold a password
		}
		t.Proxy = func(r *http.Request) (*url.URL, error) {
			if loopback(r.URL.Hostname()) {
				return nil, nil
			}
			return through, nil
		}
	}
	if caFile != "" {
		pool, err := authorities(caFile)
		if err != nil {
			return Transport{}, err
		}
		t.TLS.RootCAs = pool
	}
	t.HTTP = http.DefaultTransport.(*http.Transport).Clone()
	t.HTTP.Proxy, t.HTTP.OnProxyConnectResponse = t.Proxy, tunnelOnly
	t.HTTP.TLSClientConfig = t.TLS.Clone()
	return t, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// authorities are the system's and those in the file.
func authorities(file string) (*x509.CertPool, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, failure.New(failure.CAFileInvalid, file).
			Because("the file can't be read: %v", err).Then("correct `ca_file`, or make the file readable for this user").Wrap(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, largestCAFile))
	if err != nil {
		return nil, failure.New(failure.CAFileInvalid, file).Because("the file can't be read: %v", err).Wrap(err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // a system without certificates is one reason to have the file
	}
	if !pool.AppendCertsFromPEM(data) {
		return nil, failure.New(failure.CAFileInvalid, file)
	}
	return pool, nil
}

// webSocketScheme gives each scheme that an engine's address may have its WebSocket form.
func webSocketScheme(scheme string) string {
	switch scheme {
	case "ws", "http":
		return "ws"
	case "wss", "https":
		return "wss"
	}
	return ""
}

// webSocketAddress reports whether address is one that WebSocketURL can complete.
func webSocketAddress(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && webSocketScheme(u.Scheme) != ""
}

// WebSocketURL completes the engine's address with Phoenix's path, the ticket and the version of the frames
// (protocol.md 3.1). An address that is not a URL is given back empty. The result is a secret, for the ticket is in it.
func WebSocketURL(engineWSURL, ticket string) string {
	u, err := url.Parse(engineWSURL)
	if err != nil {
		return ""
	}
	if scheme := webSocketScheme(u.Scheme); scheme != "" {
		u.Scheme = scheme
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/")+"/websocket", ""
	query := u.Query()
	query.Set("ticket", ticket)
	query.Set("vsn", "2.0.0")
	u.RawQuery, u.Fragment = query.Encode(), ""
	return u.String()
}
