package channel

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
)

// ProxyError is a proxy's refusal to open a tunnel to the server. The server was
// not reached.
type ProxyError struct {
	Proxy  string // host and port, without a password
	Status int    // of HTTP: 407 asks for a name and a password
}

func (e *ProxyError) Error() string {
	return fmt.Sprintf("the proxy %s refuses the connection with status %d %s", e.Proxy, e.Status, http.StatusText(e.Status))
}

// largestTunnelAnswer bounds what a proxy may answer to CONNECT, in bytes.
const largestTunnelAnswer = 64 << 10

// proxyFor opens the TCP connection of one dial, to the server or to a proxy,
// and gives it up when the dial's context ends, which the WebSocket library
// does not do during the handshake. It speaks to http and https proxies itself:
// the library knows no https ones, keeps their status to itself, and panics at
// an answer without a reason phrase.
type proxyFor struct {
	dialer *Dialer
	host   string      // of the proxy that was chosen, if any
	tunnel *url.URL    // the proxy, where it is asked by CONNECT
	stop   func() bool // takes the watch off the connection
}

// choose asks for the proxy of a request, and leaves other than http and https
// ones to the library.
func (p *proxyFor) choose(r *http.Request) (*url.URL, error) {
	u, err := p.dialer.Proxy(r)
	if err != nil {
		return nil, errors.New("the proxy setting can't be used") // the error may hold its password
	}
	if u == nil {
		return nil, nil
	}
	p.host = u.Host
	if u.Scheme != "http" && u.Scheme != "https" {
		return u, nil
	}
	p.tunnel = u
	return nil, nil
}

func (p *proxyFor) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	to := addr
	if u := p.tunnel; u != nil {
		port := "80"
		if u.Scheme == "https" {
			port = "443"
		}
		to = net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port))
	}
	conn, err := p.dialer.DialContext(ctx, network, to)
	if err != nil {
		return nil, err
	}
	p.stop = context.AfterFunc(ctx, func() { conn.Close() })
	if p.tunnel == nil {
		return conn, nil
	}
	through, err := p.connect(ctx, conn, addr)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return through, nil
}

// connect has the proxy at the other end of conn open a tunnel to addr.
func (p *proxyFor) connect(ctx context.Context, conn net.Conn, addr string) (net.Conn, error) {
	if p.tunnel.Scheme == "https" {
		config := p.dialer.TLS.Clone()
		config.ServerName = p.tunnel.Hostname()
		secured := tls.Client(conn, config)
		if err := secured.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		conn = secured
	}
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: addr}, Host: addr, Header: http.Header{}}
	if user := p.tunnel.User; user != nil {
		password, _ := user.Password()
		word := base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
		request.Header.Set("Proxy-Authorization", "Basic "+word)
	}
	if err := request.Write(conn); err != nil {
		return nil, err
	}
	// Nothing is lost with the reader: the server does not speak before it is spoken to.
	response, err := http.ReadResponse(bufio.NewReader(io.LimitReader(conn, largestTunnelAnswer)), request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, &ProxyError{Proxy: p.tunnel.Host, Status: response.StatusCode}
	}
	return conn, nil
}

// release lets go of the connection; it reports false where the context has
// closed it already.
func (p *proxyFor) release() bool {
	return p.stop == nil || p.stop()
}
