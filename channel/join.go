package channel

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gorilla/websocket"
)

// Join joins a topic with params, any JSON value (nil is {}), and returns the
// channel and the response in the server's reply. A refusal is a *JoinError; an
// end of the channel or the connection before the reply is that end's error.
// A join that its context gives up is left, should the server still open it.
// Joining a joined topic once more ends the earlier channel, if the server
// agrees.
func (c *Conn) Join(ctx context.Context, topic string, params any) (*Channel, json.RawMessage, error) {
	ch := newChannel(c, topic)
	w := &waiter{answer: make(chan answer, 1), ch: ch, joins: true}
	ref, err := c.await(w)
	if err != nil {
		return nil, nil, fmt.Errorf("channel: joining %s: %w", topic, err)
	}
	defer c.forget(ref)
	c.hold()
	defer c.release()
	response, err := c.join(ctx, ch, w, params)
	if err != nil {
		c.mu.Lock()
		c.ended(ch, err)
		c.mu.Unlock()
		return nil, nil, err
	}
	return ch, response, nil
}

func (c *Conn) join(ctx context.Context, ch *Channel, w *waiter, params any) (json.RawMessage, error) {
	ref := textRef(ch.joinRef)
	data, err := encodeText(ref, ref, ch.topic, eventJoin, params)
	if err != nil {
		return nil, err
	}
	if err := c.write(ctx, outgoing{websocket.TextMessage, data}, nil); err != nil {
		return nil, fmt.Errorf("channel: joining %s: %w", ch.topic, err)
	}
	var a answer
	select {
	case a = <-w.answer:
	case <-ctx.Done():
		c.leaveLater(ch)
		return nil, fmt.Errorf("channel: joining %s: no answer: %w", ch.topic, ctx.Err())
	}
	switch {
	case a.err != nil:
		return nil, fmt.Errorf("channel: joining %s: %w", ch.topic, a.err)
	case a.reply.Status != statusOK:
		return nil, &JoinError{Topic: ch.topic, Status: a.reply.Status, Response: a.reply.Response}
	}
	return a.reply.Response, nil
}

// leaveLater tells the server that nobody waits for this join any more. The
// heartbeat's goroutine writes it, because the caller's time is up.
func (c *Conn) leaveLater(ch *Channel) {
	data, err := encodeText(textRef(ch.joinRef), textRef(c.nextRef()), ch.topic, eventLeave, nil)
	if err != nil {
		return // the join would not have been written
	}
	select {
	case c.urgent <- data:
	default: // a connection with so many of them waiting does not write any more
	}
}
