package channel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/gorilla/websocket"
)

// Channel is a topic joined on a Conn.
type Channel struct {
	conn    *Conn
	topic   string
	joinRef string
	open    bool // the server let us in; Conn.mu guards it
	inbox   inbox

	mu   sync.Mutex
	err  error
	gone chan struct{} // closed when the channel has ended
	drop chan struct{} // closed when what came is not wanted any more
	left sync.Once
}

func newChannel(c *Conn, topic string) *Channel {
	return &Channel{conn: c, topic: topic, inbox: newInbox(),
		gone: make(chan struct{}), drop: make(chan struct{})}
}

// Topic is the topic that was joined.
func (ch *Channel) Topic() string { return ch.topic }

// Receive hands out the messages in the order in which the server sent them.
// When nobody receives, the connection is not read any further once about a
// megabyte waits. It is closed when the channel has ended and what came before
// has been received; after Leave or Conn.Close it is closed at once.
func (ch *Channel) Receive() <-chan Message { return ch.inbox.out }

// Err is nil while the channel is joined and then says why it ended: a
// *ChannelError, or the connection's *EndError. It is set as soon as the end is
// known, while earlier messages may still wait in Receive.
func (ch *Channel) Err() error {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	return ch.err
}

// finish ends the channel for the first reason given.
func (ch *Channel) finish(err error) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if ch.err == nil {
		ch.err = err
		close(ch.gone)
	}
}

// leaving reports whether Leave was called.
func (ch *Channel) leaving() bool {
	select {
	case <-ch.drop:
		return true
	default:
		return false
	}
}

// usable is Err, and an error from the moment of Leave.
func (ch *Channel) usable() error {
	if err := ch.Err(); err != nil {
		return err
	}
	if ch.leaving() {
		return &ChannelError{Topic: ch.topic, End: ChannelLeft}
	}
	return nil
}

// Push sends a message, in the order of the calls, and returns when it was
// written, which is no proof that the server has read it. After an error of ctx
// it was not written. payload is any JSON value, nil is {}, or Binary.
func (ch *Channel) Push(ctx context.Context, event string, payload any) error {
	m, err := ch.encode(ch.conn.nextRef(), event, payload)
	if err == nil {
		err = ch.conn.write(ctx, m, ch.usable)
	}
	if err != nil {
		return fmt.Errorf("channel: pushing %s: %w", event, err)
	}
	return nil
}

// Call sends a message like Push and waits for the reply, whose response it
// returns. A status other than "ok" is a *ReplyError, a binary reply
// ErrBinaryReply. Many events of real servers are never answered: ctx has to end.
func (ch *Channel) Call(ctx context.Context, event string, payload any) (json.RawMessage, error) {
	p, err := ch.Start(ctx, event, payload)
	if err != nil {
		return nil, err
	}
	return p.Wait(ctx)
}

// Pending is a message that was sent and whose reply is waited for. Wait or
// Forget has to be called.
type Pending struct {
	ch    *Channel
	event string
	ref   string
	w     *waiter
}

// Start is Call up to the point where the message was written: several may be
// on their way at once, in the order of the calls.
func (ch *Channel) Start(ctx context.Context, event string, payload any) (*Pending, error) {
	p, err := ch.start(ctx, event, payload)
	if err != nil {
		return nil, fmt.Errorf("channel: calling %s: %w", event, err)
	}
	return p, nil
}

// Wait is the rest of Call. It is called once.
func (p *Pending) Wait(ctx context.Context) (json.RawMessage, error) {
	r, binary, err := p.wait(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("channel: calling %s: %w", p.event, err)
	case r.Status != statusOK:
		return nil, &ReplyError{Topic: p.ch.topic, Event: p.event, Status: r.Status, Response: r.Response}
	case binary != nil:
		return nil, ErrBinaryReply
	}
	return r.Response, nil
}

// Forget gives the reply up.
func (p *Pending) Forget() { p.ch.conn.forget(p.ref) }

// CallBinary is Call for a reply that is binary.
func (ch *Channel) CallBinary(ctx context.Context, event string, payload any) ([]byte, error) {
	p, err := ch.Start(ctx, event, payload)
	if err != nil {
		return nil, err
	}
	r, binary, err := p.wait(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("channel: calling %s: %w", event, err)
	case r.Status != statusOK || binary == nil:
		return nil, &ReplyError{Topic: ch.topic, Event: event, Status: r.Status, Response: r.Response}
	}
	return binary, nil
}

func (ch *Channel) start(ctx context.Context, event string, payload any) (*Pending, error) {
	if err := ch.usable(); err != nil {
		return nil, err
	}
	return ch.ask(ctx, event, payload)
}

func (ch *Channel) ask(ctx context.Context, event string, payload any) (*Pending, error) {
	p := &Pending{ch: ch, event: event, w: &waiter{answer: make(chan answer, 1), ch: ch}}
	var err error
	if p.ref, err = ch.conn.await(p.w); err != nil {
		return nil, err
	}
	m, err := ch.encode(p.ref, event, payload)
	if err == nil {
		err = ch.conn.write(ctx, m, ch.Err)
	}
	if err != nil {
		p.Forget()
		return nil, err
	}
	return p, nil
}

func (p *Pending) wait(ctx context.Context) (reply, []byte, error) {
	defer p.Forget()
	select {
	case a := <-p.w.answer:
		return a.reply, a.binary, a.err
	case <-ctx.Done():
		return reply{}, nil, fmt.Errorf("no reply: %w", ctx.Err())
	}
}

// Leave leaves the topic and waits until the server says so. The channel has
// ended when it returns, whatever its error. Messages that nobody has received
// yet are dropped.
func (ch *Channel) Leave(ctx context.Context) error {
	ch.left.Do(func() { close(ch.drop) })
	p, err := ch.ask(ctx, eventLeave, nil)
	if err == nil {
		_, _, err = p.wait(ctx)
	}
	ch.conn.mu.Lock()
	ch.conn.ended(ch, &ChannelError{Topic: ch.topic, End: ChannelLeft})
	ch.conn.mu.Unlock()
	var ce *ChannelError
	if err == nil || errors.As(err, &ce) { // closed is left, with or without a reply
		return nil
	}
	return fmt.Errorf("channel: leaving %s: %w", ch.topic, err)
}

func (ch *Channel) encode(ref, event string, payload any) (outgoing, error) {
	if data, ok := payload.(Binary); ok {
		b, err := encodeBinary(binaryPush, data, ch.joinRef, ref, ch.topic, event)
		return outgoing{websocket.BinaryMessage, b}, err
	}
	b, err := encodeText(textRef(ch.joinRef), textRef(ref), ch.topic, event, payload)
	return outgoing{websocket.TextMessage, b}, err
}
