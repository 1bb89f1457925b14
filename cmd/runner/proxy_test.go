package main

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// faultProxy stands between a daemon and its hub and makes the network bad on request.
type faultProxy struct {
	url      string
	target   string
	listener net.Listener
	running  sync.WaitGroup

	mu      sync.Mutex // guards what follows
	links   map[*faultLink]struct{}
	closed  bool // refuse every new connection
	swallow bool // take what comes and pass nothing on
	deaf    bool // as swallow, for what the daemon sends alone
	tear    bool // pass a part of what comes next, and reset
	delay   time.Duration
}

type faultLink struct{ client, server net.Conn }

// newFaultProxy passes everything on to the server at url.
func newFaultProxy(t testing.TB, url string) *faultProxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &faultProxy{
		url: "http://" + listener.Addr().String(), target: strings.TrimPrefix(url, "http://"), listener: listener,
		links: map[*faultLink]struct{}{},
	}
	p.running.Go(p.accept)
	t.Cleanup(func() {
		listener.Close()
		p.set(func() { p.closed = true })
		p.cut(false)
		p.running.Wait()
	})
	return p
}

func (p *faultProxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func (p *faultProxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		closed := p.closed
		p.mu.Unlock()
		if closed {
			client.Close()
			continue
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			client.Close()
			continue
		}
		l := &faultLink{client, server}
		p.set(func() { p.links[l] = struct{}{} })
		p.running.Go(func() { p.pass(l, client, server, true) })
		p.running.Go(func() { p.pass(l, server, client, false) })
	}
}

// pass copies one direction until either end is gone.
func (p *faultProxy) pass(l *faultLink, from io.Reader, to io.Writer, up bool) {
	defer p.end(l)
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		swallow, delay, tear := p.swallow || p.deaf && up, p.delay, p.tear
		p.tear = false
		p.mu.Unlock()
		if swallow {
			continue
		}
		if delay > 0 {
			time.Sleep(delay) // the fault itself: a slow network
		}
		if tear {
			_, _ = to.Write(buf[:n/2])
			l.reset()
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (p *faultProxy) end(l *faultLink) {
	l.client.Close()
	l.server.Close()
	p.set(func() { delete(p.links, l) })
}

// reset ends a connection without a word.
func (l *faultLink) reset() {
	for _, c := range []net.Conn{l.client, l.server} {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		c.Close()
	}
}

// cut ends every connection, with a reset where hard.
func (p *faultProxy) cut(hard bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		if hard {
			l.reset()
		}
		l.client.Close()
		l.server.Close()
	}
}
