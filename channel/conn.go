package channel

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// Conn is one connection. It is never dialled again: when it ends, it and all
// its channels have ended for good.
type Conn struct {
	ws  *websocket.Conn
	o   Dialer
	log *slog.Logger

	turn    chan struct{} // held by the one who writes, in order of arrival
	waiting atomic.Int32  // callers that write or wait for their turn
	heard   atomic.Int64  // when the last message came, in ns since 1970
	writing sync.Mutex    // around one message; heartbeats need no turn

	done    chan struct{} // closed when the connection has ended
	closing chan struct{} // closed by Close: nothing is delivered any more
	beatNow chan struct{} // holds one token when a heartbeat is wanted at once
	urgent  chan []byte   // frames for the heartbeat's goroutine to write

	mu       sync.Mutex
	end      *EndError
	lastRef  uint64
	waiters  map[string]*waiter  // replies that are waited for, by ref
	channels map[string]*Channel // by join ref; joining ones too
	topics   map[string]*Channel // joined ones, by topic
	pause    pause

	closed  sync.Once
	reading chan struct{}  // closed when the reader has ended
	running sync.WaitGroup // reader, heartbeat, one for each joined channel
}

// waiter is somebody who waits for a reply.
type waiter struct {
	answer chan answer // buffered: the reader never waits for a waiter
	ch     *Channel    // nil for heartbeats
	joins  bool        // the reply opens ch
}

type answer struct {
	reply  reply
	binary []byte
	err    error
}

func newConn(ws *websocket.Conn, o Dialer) *Conn {
	c := &Conn{
		ws: ws, o: o, log: o.Logger.With("server", ws.RemoteAddr().String()),
		turn: make(chan struct{}, 1),
		done: make(chan struct{}), closing: make(chan struct{}), reading: make(chan struct{}),
		beatNow: make(chan struct{}, 1), urgent: make(chan []byte, 8),
		waiters: map[string]*waiter{}, channels: map[string]*Channel{}, topics: map[string]*Channel{},
	}
	c.heard.Store(time.Now().UnixNano())
	ws.SetReadLimit(o.ReadLimit)
	c.running.Go(c.read)
	c.running.Go(c.beat)
	return c
}

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err is nil while the connection is open and then always the same *EndError.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end == nil {
		return nil
	}
	return c.end
}

// LastHeard is when the last message of the server came, replies to heartbeats
// among them; before the first it is when the connection was made.
func (c *Conn) LastHeard() time.Time { return time.Unix(0, c.heard.Load()) }

// finish ends the connection for the first reason given and fails everybody
// who waits. It does not wait and leaves the TCP connection to its caller.
func (c *Conn) finish(end *EndError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end != nil {
		return
	}
	c.end = end
	for ref, w := range c.waiters {
		w.answer <- answer{err: end}
		delete(c.waiters, ref)
	}
	for _, ch := range c.channels {
		ch.finish(end)
	}
	clear(c.channels)
	clear(c.topics)
	close(c.done)
}

// fail ends the connection at once.
func (c *Conn) fail(end *EndError) {
	c.finish(end)
	c.ws.Close()
}

// Close ends the connection: with a close frame and the chance to answer it
// where the server is still there, and in any case within about a second. It
// returns when all goroutines of the connection have ended. Messages that
// nobody has received yet are dropped. It may be called often and at any time,
// and always returns nil.
func (c *Conn) Close() error {
	c.closed.Do(func() {
		close(c.closing)
		c.finish(&EndError{Reason: EndCancelled})
		grace := time.NewTimer(closeGrace)
		defer grace.Stop()
		sayClose(c.ws, websocket.CloseNormalClosure, "")
		select {
		case <-c.reading:
		case <-grace.C:
		}
		c.ws.Close()
		c.running.Wait()
	})
	return nil
}

// Sync sends a heartbeat behind everything that was queued before it, and
// returns when its reply has come: proof that the server has read all of that.
func (c *Conn) Sync(ctx context.Context) error {
	w := &waiter{answer: make(chan answer, 1)}
	ref, err := c.await(w)
	if err != nil {
		return err
	}
	defer c.forget(ref)
	if err := c.write(ctx, outgoing{websocket.TextMessage, heartbeat(ref)}, nil); err != nil {
		return fmt.Errorf("channel: sync: %w", err)
	}
	select {
	case a := <-w.answer:
		return a.err
	case <-ctx.Done():
		return fmt.Errorf("channel: sync: %w", ctx.Err())
	}
}

// await registers a waiter and makes its ref. The waiter stands before the
// frame is written, so that no reply can come too early.
func (c *Conn) await(w *waiter) (ref string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end != nil {
		return "", c.end
	}
	if w.ch != nil {
		if err := w.ch.Err(); err != nil {
			return "", err
		}
	}
	ref = c.newRef()
	c.waiters[ref] = w
	if w.joins {
		w.ch.joinRef = ref
		c.channels[ref] = w.ch
	}
	return ref, nil
}

// newRef makes a ref; c.mu is held.
func (c *Conn) newRef() string {
	c.lastRef++
	return strconv.FormatUint(c.lastRef, 10)
}

func (c *Conn) nextRef() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.newRef()
}

// forget takes a waiter off: a late reply is nobody's.
func (c *Conn) forget(ref string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiters, ref)
}

// write sends one message in its turn. still is asked right before, nil means
// that nothing can have changed.
func (c *Conn) write(ctx context.Context, m outgoing, still func() error) error {
	defer c.waiting.Add(-1)
	if int(c.waiting.Add(1)) > c.o.QueueLimit {
		return ErrQueueFull
	}
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.done:
		return c.Err()
	}
	defer func() { <-c.turn }()
	if err := ctx.Err(); err != nil {
		return err
	}
	if still != nil {
		if err := still(); err != nil {
			return err
		}
	}
	return c.writeNow(m)
}

// writeNow sends one message before all that wait for their turn.
func (c *Conn) writeNow(m outgoing) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.Err(); err != nil {
		return err
	}
	if err := writeMessage(c.ws, m, c.o.WriteTimeout); err != nil {
		c.fail(&EndError{Reason: EndNetwork, Err: err})
		return c.Err()
	}
	return nil
}
