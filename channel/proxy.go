package channel

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
)

// proxyFor opens the TCP connection of one dial, to the server or to a proxy,
// and gives it up when the dial's context ends, which the WebSocket library
// does not do during the handshake. It also speaks TLS to https proxies, which
// that library does not know.
type proxyFor struct {
	dialer *Dialer
	host   string      // of the proxy that was chosen, if any
	secure string      // its host:port when it speaks https
	stop   func() bool // takes the watch off the connection
}

// choose asks for the proxy of a request.
func (p *proxyFor) choose(r *http.Request) (*url.URL, error) {
	u, err := p.dialer.Proxy(r)
	if err != nil {
		return nil, errors.New("the proxy setting can't be used") // the error may hold its password
	}
	if u == nil {
		return nil, nil
	}
	p.host = u.Host
	if u.Scheme != "https" {
		return u, nil
	}
	plain := *u
	plain.Scheme = "http"
	plain.Host = net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "443"))
	p.secure = plain.Host
	return &plain, nil
}

func (p *proxyFor) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := p.dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	p.stop = context.AfterFunc(ctx, func() { conn.Close() })
	if p.secure == "" || addr != p.secure {
		return conn, nil
	}
	config := p.dialer.TLS.Clone()
	if host, _, err := net.SplitHostPort(addr); err == nil {
		config.ServerName = host
	}
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secured, nil
}

// release lets go of the connection; it reports false where the context has
// closed it already.
func (p *proxyFor) release() bool {
	return p.stop == nil || p.stop()
}
