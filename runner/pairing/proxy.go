package pairing

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"brabo.dev/runner/runner/failure"
)

// proxyError is a proxy's refusal to open a tunnel to the server.
type proxyError struct {
	proxy  string // host and port
	status int
}

func (e *proxyError) Error() string {
	return fmt.Sprintf("the proxy %s answers CONNECT with HTTP %d", e.proxy, e.status)
}

// tunnelOnly takes an answer to CONNECT as what it is: the proxy's own word.
func tunnelOnly(_ context.Context, proxy *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode != http.StatusOK {
		return &proxyError{proxy.Host, answer.StatusCode}
	}
	return nil
}

// RefusedByProxy names what a proxy, by its host, answered in the server's place.
func RefusedByProxy(proxy string, status int) *failure.Failure {
	f := failure.New(failure.ProxyRefused, "proxy "+proxy)
	switch status {
	case http.StatusProxyAuthRequired:
		return f.Because("the proxy asks for a name and a password, or does not accept the ones it got (HTTP %d)", status).
			Then("put them into the proxy's address: `proxy`, or the variables HTTPS_PROXY and HTTP_PROXY")
	case http.StatusForbidden:
		return f.Because("the proxy does not let this machine reach the server (HTTP %d)", status)
	}
	return f.Because("the proxy answers with %d %s", status, http.StatusText(status))
}

// proxyOf is the host of the proxy that the request of resp took; empty: none.
func (c Client) proxyOf(resp *http.Response) string {
	if c.HTTP == nil || resp.Request == nil {
		return ""
	}
	transport, ok := c.HTTP.Transport.(*http.Transport)
	if !ok || transport.Proxy == nil {
		return ""
	}
	proxy, err := transport.Proxy(resp.Request)
	if err != nil || proxy == nil {
		return ""
	}
	return proxy.Host
}

// RefusedByProxy names resp where it is a proxy's own answer, which only 407 is for certain: a request without TLS
// passes through the proxy, whose refusals look like the server's. Else nil.
func (c Client) RefusedByProxy(resp *http.Response) *failure.Failure {
	if resp.StatusCode != http.StatusProxyAuthRequired {
		return nil
	}
	return RefusedByProxy(c.proxyOf(resp), resp.StatusCode)
}
