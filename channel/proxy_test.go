package channel_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"brabo.dev/runner/channel"
)

// TestProxysOwnAnswersAreToldFromTheServers has a proxy answer CONNECT with what no server sent.
func TestProxysOwnAnswersAreToldFromTheServers(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		status       int // of a ProxyError; 0: none
	}{
		{"wants a password", "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n", 407},
		{"forbids", "HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\n\r\n<html>", 403},
		{"without a reason", "HTTP/1.1 407\r\n\r\n", 407},
		{"without an end", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20), 0},
		{"nonsense", "no\r\n\r\n", 0},
		{"hangs up", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			proxy := &url.URL{Scheme: "http", User: url.User("ana"), Host: "proxy.test"}
			asked := make(chan string, 1)
			d := channel.Dialer{Proxy: http.ProxyURL(proxy), DialContext: func(_ context.Context, _, addr string) (net.Conn, error) {
				asked <- addr
				ours, theirs := net.Pipe()
				go func() {
					defer theirs.Close()
					_, _ = theirs.Read(make([]byte, 4096)) // the request, in one piece
					_, _ = io.WriteString(theirs, c.answer)
				}()
				return ours, nil
			}}
			_, err := d.Dial(testContext(t), "ws://server.test/websocket?ticket=secret")
			var refused *channel.ProxyError
			if found := errors.As(err, &refused); found != (c.status > 0) || found && (refused.Status != c.status || refused.Proxy != "proxy.test") {
				t.Errorf("%v", err)
			}
			if !strings.Contains(err.Error(), "proxy.test") || strings.Contains(err.Error(), "secret") {
				t.Errorf("it says %v", err)
			}
			if to := <-asked; to != "proxy.test:80" {
				t.Errorf("it dialled %s", to)
			}
		})
	}
}
