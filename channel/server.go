package channel

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Server is the server half: an http.Handler to be mounted at a path that ends
// in /websocket. Its fields are set before the first request and not changed
// after it. Connect and Join are required.
type Server struct {
	// Connect checks who is there, before the upgrade is answered and after
	// everything else about the request was found good, so that a ticket is not
	// spent on a broken request. Its error is a 403 with an empty body, unless it
	// is a *ConnectError.
	Connect func(r *http.Request) (Session, error)

	// Join decides about a join. It runs in the order of the socket's messages
	// and holds them all up while it runs, heartbeats included. The reply is any
	// JSON value, nil is {}. A *Refusal is sent to the client as it says,
	// ErrUnmatchedTopic as for a topic that nobody serves, any other error as
	// "join crashed". What is pushed to ch before Join returns follows the reply.
	// ctx ends with the socket.
	Join func(ctx context.Context, ch *ServerChannel, params json.RawMessage) (Handler, any, error)

	// CheckOrigin decides about the Origin header. By default a request without
	// one is good, and one with the request's own host.
	CheckOrigin func(r *http.Request) bool

	IdleTimeout  time.Duration // without any data from the client; default 60 s
	ReadLimit    int64         // bytes of one message; default 8,000,000
	QueueLimit   int           // bytes that may wait for one client; default 16 MiB
	WriteTimeout time.Duration // for each 64 KiB of a message; default 10 s
	Logger       *slog.Logger  // nil discards; payloads and queries are never logged

	mu       sync.Mutex
	sockets  map[*Socket]struct{}
	draining bool
	running  sync.WaitGroup // one for each socket
}

// Session is what Connect knows about a client.
type Session struct {
	ID    string // the socket's id, for Disconnect; several sockets may share it
	Value any    // the caller's own
}

// Handler receives what comes in on one joined channel.
type Handler interface {
	// Handle is called for each message in the order of arrival. What was read
	// before the connection ended is handled too, except after Disconnect. It has
	// to return when ctx ends. A panic ends the channel the way Phoenix does it,
	// with phx_error.
	Handle(ctx context.Context, m Message)
	// Closed is called exactly once, after the last Handle and before the client
	// can join the topic again on this socket. err is nil where ServerChannel.Close
	// ended the channel with nil, else its error, a *ChannelError or an *EndError.
	Closed(err error)
}

// Refusal is the error by which Join refuses: the client is told
// {"reason": Reason}, or Response where it is not nil.
type Refusal struct {
	Reason   string
	Response any
}

func (r *Refusal) Error() string { return "channel: join refused: " + r.Reason }

// ErrUnmatchedTopic is Join's answer to a topic that is not served.
var ErrUnmatchedTopic = errors.New("unmatched topic")

const (
	defaultIdle       = 60 * time.Second
	defaultServerRead = 8_000_000
	defaultQueue      = 16 << 20
	defaultWrite      = 10 * time.Second
	// maxChannels is Phoenix's max_channels_per_transport.
	maxChannels = 100
)

// Disconnect closes every socket with this id, without a word on its channels,
// and says how many there were.
func (s *Server) Disconnect(socketID string) int {
	n := 0
	for _, socket := range s.snapshot() {
		if socket.session.ID == socketID &&
			socket.finish(&EndError{Reason: EndDisconnected}, websocket.CloseGoingAway, closeGrace) {
			socket.abandon()
			n++
		}
	}
	return n
}

// Broadcast pushes a message to every channel joined to topic. Errors of single
// sockets are their own: a client that does not read is disconnected.
func (s *Server) Broadcast(topic, event string, payload any) error {
	m, err := encodeBroadcast(topic, event, payload)
	if err != nil {
		return err
	}
	for _, socket := range s.snapshot() {
		if ch := socket.channel(topic); ch != nil {
			_ = ch.send(m)
		}
	}
	return nil
}

// Shutdown closes every socket, 1012 where a channel is joined and 1000
// elsewhere, refuses new ones with 503, and waits for all goroutines. When ctx
// ends first the connections are cut and its error returned; a Handle or Join
// that ignores its own context may then still run.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	for _, socket := range s.snapshot() {
		code := websocket.CloseNormalClosure
		if socket.joined() {
			code = websocket.CloseServiceRestart
		}
		socket.finish(&EndError{Reason: EndShutdown}, code, closeGrace)
	}
	done := make(chan struct{})
	go func() { // ends with the last socket
		defer close(done)
		s.running.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		for _, socket := range s.snapshot() {
			socket.abandon()
			socket.cut()
		}
		return ctx.Err()
	}
}

// Sockets is the number of open sockets.
func (s *Server) Sockets() int { return len(s.snapshot()) }

func (s *Server) snapshot() []*Socket {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*Socket, 0, len(s.sockets))
	for socket := range s.sockets {
		all = append(all, socket)
	}
	return all
}

// add registers a socket before its upgrade is answered, so that a Disconnect
// can't slip in between. It reports false during a shutdown.
func (s *Server) add(socket *Socket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	if s.sockets == nil {
		s.sockets = map[*Socket]struct{}{}
	}
	s.sockets[socket] = struct{}{}
	s.running.Add(1)
	return true
}

func (s *Server) remove(socket *Socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sockets, socket)
	s.running.Done()
}

// or gives a setting its default.
func or[T int | int64 | time.Duration](value, byDefault T) T {
	if value <= 0 {
		return byDefault
	}
	return value
}
