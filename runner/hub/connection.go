package hub

import (
	"context"
	"crypto/rand"
	"net"
)

type connectionKey struct{}

// ConnContext gives each connection of an http.Server a name, by which the session of an agent is told that sends no
// name of its own: a session is one agent connection.
func ConnContext(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, "c-"+rand.Text()[:12])
}
