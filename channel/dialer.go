package channel

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Dialer holds what connections are made with. The zero value is good; Dial
// does not change it, and it may be used by several goroutines.
type Dialer struct {
	Heartbeat time.Duration // from one heartbeat to the next; default 30 s
	// HeartbeatGrace is how long the reply to a heartbeat may take; default 10 s.
	// The deadline pauses while a Join is open on the connection, whose work on
	// the server holds up the reply, and while this side does not read.
	HeartbeatGrace time.Duration

	ReadLimit        int64         // bytes of one message; default 8 MiB
	WriteTimeout     time.Duration // for each 64 KiB of a message; default 10 s
	HandshakeTimeout time.Duration // for the whole of Dial; default 10 s
	QueueLimit       int           // callers that may wait to write; default 1024

	// Proxy names the proxy for a request, as in http.Transport: http, https or
	// socks5. Nil asks the environment.
	Proxy func(*http.Request) (*url.URL, error)
	TLS   *tls.Config // nil trusts what the system trusts
	// DialContext makes the TCP connections; nil means a net.Dialer.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)

	Header http.Header  // sent with the upgrade; without it no Origin is sent
	Logger *slog.Logger // nil discards; payloads and the URL's query are never logged
}

const (
	defaultHeartbeat = 30 * time.Second
	defaultGrace     = 10 * time.Second
	defaultReadLimit = 8 << 20
	defaultHandshake = 10 * time.Second
	defaultWaiters   = 1024
)

func (d *Dialer) withDefaults() Dialer {
	o := *d
	o.Heartbeat = or(o.Heartbeat, defaultHeartbeat)
	o.HeartbeatGrace = or(o.HeartbeatGrace, defaultGrace)
	o.ReadLimit = or(o.ReadLimit, defaultReadLimit)
	o.WriteTimeout = or(o.WriteTimeout, defaultWrite)
	o.HandshakeTimeout = or(o.HandshakeTimeout, defaultHandshake)
	o.QueueLimit = or(o.QueueLimit, defaultWaiters)
	if o.Proxy == nil {
		o.Proxy = http.ProxyFromEnvironment
	}
	if o.DialContext == nil {
		o.DialContext = (&net.Dialer{}).DialContext
	}
	o.TLS = o.TLS.Clone()
	if o.TLS == nil {
		o.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	o.TLS.NextProtos = []string{"http/1.1"} // an upgrade needs it
	o.Logger = orDiscard(o.Logger)
	return o
}

// Dial makes one connection to rawURL, which is http, https, ws or wss and
// complete: it ends in /websocket and carries the ticket in its query. vsn is
// added where it is absent. ctx governs the dial alone. The error is a
// *RefusedError where the server answered otherwise than with an upgrade, else
// an *EndError; neither tells the query.
func (d *Dialer) Dial(ctx context.Context, rawURL string) (*Conn, error) {
	o := d.withDefaults()
	address, err := addressOf(rawURL)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.HandshakeTimeout)
	defer cancel()
	proxy := proxyFor{dialer: &o}
	// Without the library's own HandshakeTimeout, whose context would end under
	// the connection as soon as the handshake is done.
	ws, resp, err := (&websocket.Dialer{
		Proxy:           proxy.choose,
		NetDialContext:  proxy.dial,
		TLSClientConfig: o.TLS,
		ReadBufferSize:  readBuffer,
		WriteBufferPool: writeBuffers,
	}).DialContext(ctx, address, o.Header)
	if released := proxy.release(); !released && err == nil {
		ws.Close()
		err = ctx.Err()
	}
	if err != nil {
		if proxy.host != "" {
			err = fmt.Errorf("through the proxy %s: %w", proxy.host, err)
		}
		return nil, dialError(ctx, resp, err)
	}
	if resp.Header.Get("Sec-Websocket-Extensions") != "" {
		ws.Close() // RFC 6455 4.1: an extension that was not asked for
		return nil, &EndError{Reason: EndProtocolError, Err: errUnaskedExtension}
	}
	return newConn(ws, o), nil
}

// readBuffer is small: connections are many and mostly idle, and what is larger
// than the buffer is read past it.
const readBuffer = 1 << 10

// writeBuffers are shared by all connections, each of which needs one only while
// it writes.
var writeBuffers = new(sync.Pool)

var errUnaskedExtension = errors.New("the server chose an extension that was not offered")

// addressOf prepares the URL. Its errors don't repeat it.
func addressOf(rawURL string) (string, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return "", errors.New("channel: the address is not a URL")
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "ws":
		u.Scheme = "ws"
	case "https", "wss":
		u.Scheme = "wss"
	default:
		return "", fmt.Errorf("channel: the address has the scheme %q, not http, https, ws or wss", u.Scheme)
	}
	if u.Host == "" || u.User != nil {
		return "", errors.New("channel: the address has no host, or a user in it")
	}
	u.Fragment = ""
	if q := u.Query(); !q.Has("vsn") {
		q.Set("vsn", "2.0.0")
		u.RawQuery = q.Encode()
	}
	return u.String(), nil
}

// dialError types what a dial failed with.
func dialError(ctx context.Context, resp *http.Response, err error) error {
	switch {
	case resp != nil && resp.StatusCode != http.StatusSwitchingProtocols:
		return newRefused(resp)
	case errors.Is(ctx.Err(), context.Canceled):
		return &EndError{Reason: EndCancelled, Err: ctx.Err()}
	case ctx.Err() != nil, isTimeout(err): // the connection has the deadline of ctx
		return &EndError{Reason: EndNetwork, Err: fmt.Errorf("%w: %w", context.DeadlineExceeded, err)}
	case resp != nil, strings.Contains(err.Error(), "malformed HTTP"):
		// An upgrade that isn't one, or no HTTP at all.
		return &EndError{Reason: EndProtocolError, Err: err}
	}
	return &EndError{Reason: EndNetwork, Err: err}
}
