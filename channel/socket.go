package channel

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

var errOutboxClosed = errors.New("channel: the socket has ended")

// Socket is one connected client of a Server.
type Socket struct {
	server  *Server
	session Session
	remote  string
	log     *slog.Logger
	out     *outbox
	ctx     context.Context // ends with the socket; its cause is the *EndError
	cancel  context.CancelCauseFunc

	handling context.Context // of the handlers, who finish what was read
	abandon  context.CancelFunc

	mu        sync.Mutex
	ws        *websocket.Conn
	channels  map[string]*ServerChannel // by topic, until their goroutine ended
	end       *EndError
	closeCode int         // what our close frame says; 0: none is sent
	guard     *time.Timer // cuts the connection when a polite end takes too long

	running sync.WaitGroup // the writer and the channels
}

func newSocket(s *Server, r *http.Request, session Session) *Socket {
	values := context.WithoutCancel(r.Context()) // finish alone ends a socket
	ctx, cancel := context.WithCancelCause(values)
	handling, abandon := context.WithCancel(values)
	return &Socket{
		server: s, session: session, remote: r.RemoteAddr,
		log: orDiscard(s.Logger).With("remote", r.RemoteAddr),
		out: newOutbox(or(s.QueueLimit, defaultQueue)),
		ctx: ctx, cancel: cancel, handling: handling, abandon: abandon,
		channels: map[string]*ServerChannel{},
	}
}

// ID is the id that Connect gave the socket.
func (s *Socket) ID() string { return s.session.ID }

// Value is the caller's own value, as Connect gave it.
func (s *Socket) Value() any { return s.session.Value }

// RemoteAddr is the address that the client connected from.
func (s *Socket) RemoteAddr() string { return s.remote }

// serve runs the socket in the goroutine of its request until all has ended.
func (s *Socket) serve(ws *websocket.Conn) {
	s.mu.Lock()
	s.ws = ws
	if s.end != nil { // disconnected before the upgrade was answered
		s.guard = time.AfterFunc(closeGrace, func() { ws.Close() })
	}
	s.mu.Unlock()
	written := make(chan struct{})
	s.running.Go(func() {
		defer close(written)
		s.write()
	})
	lingering := s.read()
	s.closeMailboxes()
	if lingering { // we end it: the client gets the time to read the close frame
		<-written
		drain(ws)
	}
	s.cut()
	s.running.Wait()
	s.abandon()
	s.mu.Lock()
	if s.guard != nil {
		s.guard.Stop()
	}
	end := s.end
	s.mu.Unlock()
	s.log.Debug("socket ended", "socket", s.session.ID, "reason", end.Reason, "code", end.Code)
}

// drain reads what is still on its way. Closing a TCP connection with unread
// data resets it, which may cost the client the close frame.
func drain(ws *websocket.Conn) {
	conn := ws.NetConn()
	if conn.SetReadDeadline(time.Now().Add(closeGrace)) == nil {
		_, _ = io.Copy(io.Discard, conn)
	}
}

// read takes messages until the connection ends. It reports whether the client
// may still be waiting for our close frame.
func (s *Socket) read() (lingering bool) {
	s.ws.SetReadLimit(or(s.server.ReadLimit, defaultServerRead))
	alive := func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.end != nil {
			return s.end
		}
		return s.ws.SetReadDeadline(time.Now().Add(or(s.server.IdleTimeout, defaultIdle)))
	}
	pong := s.ws.PingHandler()
	s.ws.SetPingHandler(func(data string) error {
		if err := alive(); err != nil {
			return err
		}
		return pong(data)
	})
	for {
		kind, data, err := readMessage(s.ws, alive)
		if err != nil {
			return s.readFailed(err)
		}
		m, err := decode(kind, data, fromClient)
		if err != nil {
			code := websocket.CloseInternalServerErr // what Phoenix answers
			if errors.Is(err, errNotUTF8) {
				code = websocket.CloseInvalidFramePayloadData
			}
			s.finish(&EndError{Reason: EndProtocolError, Err: err}, code, closeGrace)
			return true
		}
		s.route(m)
	}
}

// readFailed names the end that a failed read means.
func (s *Socket) readFailed(err error) (lingering bool) {
	s.mu.Lock()
	ended, code := s.end != nil, s.closeCode
	s.mu.Unlock()
	if ended {
		return code != 0
	}
	end := endOf(err, EndClosedByClient)
	switch end.Reason {
	case EndReadLimit: // the close frame is already out
		s.finish(end, 0, closeGrace)
		return true
	case EndProtocolError:
		s.finish(end, websocket.CloseProtocolError, closeGrace)
		return true
	case EndNetwork:
		if isTimeout(err) {
			// Bandit's answer to silence.
			s.finish(&EndError{Reason: EndIdle}, websocket.CloseProtocolError, closeGrace)
			return true
		}
	}
	s.finish(end, 0, closeGrace)
	return false
}

// write sends what is queued, then the close frame.
func (s *Socket) write() {
	for {
		f, ok, more := s.out.take()
		if !ok && !more {
			break
		}
		if !ok {
			<-s.out.wake
			continue
		}
		if err := writeMessage(s.ws, f, or(s.server.WriteTimeout, defaultWrite)); err != nil {
			s.finish(&EndError{Reason: EndNetwork, Err: err}, 0, closeGrace)
			s.cut()
			return
		}
	}
	s.mu.Lock()
	code, end := s.closeCode, s.end
	s.mu.Unlock()
	if code != 0 {
		sayClose(s.ws, code, end.Text)
	}
}

// finish ends the socket for the first reason given; it reports whether this
// was it. code goes into our close frame, 0 sends none; it has to go out, behind
// what is queued, and be answered within grace.
func (s *Socket) finish(end *EndError, code int, grace time.Duration) bool {
	s.mu.Lock()
	if s.end != nil {
		s.mu.Unlock()
		return false
	}
	s.end, s.closeCode = end, code
	s.cancel(end) // first: whoever sees the end must find its reason
	if ws := s.ws; ws != nil {
		s.guard = time.AfterFunc(grace, func() { ws.Close() })
		_ = ws.SetReadDeadline(time.Now()) // wakes the reader; nothing more is taken
	}
	s.mu.Unlock()
	s.out.close(code == 0 || end.Reason == EndSlowReader)
	return true
}

// cut closes the TCP connection.
func (s *Socket) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ws != nil {
		s.ws.Close()
	}
}

// send queues frames for the client. One that does not read loses its socket.
func (s *Socket) send(frames ...outgoing) error {
	err := s.out.put(frames...)
	switch {
	case errors.Is(err, ErrQueueFull):
		// The close frame waits behind the frame that is being written.
		s.finish(&EndError{Reason: EndSlowReader, Text: "the client does not read"},
			websocket.ClosePolicyViolation, or(s.server.WriteTimeout, defaultWrite))
	case errors.Is(err, errOutboxClosed):
		if cause := context.Cause(s.ctx); cause != nil {
			return cause
		}
	}
	return err
}

func (s *Socket) channel(topic string) *ServerChannel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.channels[topic]
}

// closeMailboxes tells the channels that nothing more will be read. Only the
// reading goroutine puts mail in, so it may close.
func (s *Socket) closeMailboxes() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ch := range s.channels {
		close(ch.mailbox)
	}
}

func (s *Socket) joined() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.channels) > 0
}
