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
		p.running.Go(func() { p.pass(l, client, server) })
		p.running.Go(func() { p.pass(l, server, client) })
	}
}

// pass copies one direction until either end is gone.
func (p *faultProxy) pass(l *faultLink, from io.Reader, to io.Writer) {
	defer p.end(l)
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		p.mu.Lock()
		swallow, delay := p.swallow, p.delay
		p.mu.Unlock()
		if swallow {
			continue
		}
		if delay > 0 {
			time.Sleep(delay) // the fault itself: a slow network
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

// cut ends every connection, with a reset where hard.
func (p *faultProxy) cut(hard bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		if hard {
			if c, ok := l.client.(*net.TCPConn); ok {
				_ = c.SetLinger(0)
			}
			if c, ok := l.server.(*net.TCPConn); ok {
				_ = c.SetLinger(0)
			}
		}
		l.client.Close()
		l.server.Close()
	}
}
