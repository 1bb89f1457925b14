package hub

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"sync"

	"brabo.dev/runner/runner/failure"
)

type connectionKey struct{}

// connection is what is known of the one that a request came on.
type connection struct {
	name    string // by which the session of an agent is told that sends no name of its own: a session is one agent connection
	conn    net.Conn
	look    sync.Once
	refused error
}

// ConnContext has the requests of an http.Server know their connection.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, &connection{name: "c-" + rand.Text()[:12], conn: conn})
}

// connectionOf gives the connection of a request; nil where the server was not told to keep it.
func connectionOf(r *http.Request) *connection {
	c, _ := r.Context().Value(connectionKey{}).(*connection)
	return c
}

// refusePeer says why whoever sent a request may not steer, whatever its token. It is looked at once a connection.
func (h *Hub) refusePeer(r *http.Request) *failure.Failure {
	c := connectionOf(r)
	if c == nil || h.c.RefusePeer == nil {
		return nil
	}
	c.look.Do(func() { c.refused = h.c.RefusePeer(c.conn) })
	if c.refused == nil {
		return nil
	}
	why := failure.From(c.refused, "peer")
	h.c.Log.Warn("refused, since an action sent it", "request", r.Method+" "+r.URL.Path, "failure", why)
	return why
}
