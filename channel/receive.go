package channel

import (
	"errors"
	"time"

	"github.com/gorilla/websocket"
)

// read takes messages in until the connection ends.
func (c *Conn) read() {
	defer close(c.reading)
	for {
		kind, data, err := c.ws.ReadMessage()
		if err != nil {
			c.fail(endOf(err, EndClosedByServer))
			return
		}
		c.heard.Store(time.Now().UnixNano())
		m, err := decode(kind, data, fromServer)
		if err == nil {
			err = c.take(m)
		}
		if err != nil {
			code := websocket.CloseProtocolError
			if errors.Is(err, errNotUTF8) {
				code = websocket.CloseInvalidFramePayloadData
			}
			c.finish(&EndError{Reason: EndProtocolError, Err: err})
			sayClose(c.ws, code, "")
			c.ws.Close()
			return
		}
	}
}

// take hands one message to whom it concerns. An error means that the server
// does not keep to the protocol.
func (c *Conn) take(m Message) error {
	switch m.Event {
	case eventReply:
		return c.takeReply(m)
	case eventClose:
		c.takeEnd(m, ChannelClosed)
	case eventError:
		c.takeEnd(m, ChannelCrashed)
	default:
		ch := c.receiver(m)
		if ch == nil {
			c.log.Debug("message for no channel of ours", "topic", m.Topic, "event", m.Event)
			return nil
		}
		c.deliver(ch, m)
	}
	return nil
}

// takeReply matches by ref alone: errors that the socket itself makes have no
// join_ref. A reply that nobody waits for is not looked into.
func (c *Conn) takeReply(m Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ref := m.Ref.Text()
	w := c.waiters[ref]
	if w == nil {
		return nil
	}
	r, binary, err := decodeReply(m)
	if err != nil {
		return err
	}
	delete(c.waiters, ref)
	if w.joins && r.Status == statusOK {
		c.opened(w.ch)
	}
	w.answer <- answer{reply: r, binary: binary}
	return nil
}

const statusOK = "ok"

// opened makes ch the channel of its topic; c.mu is held, and the connection
// has not ended, because then nobody would have waited. An earlier join of the
// topic is over for the server, whose phx_close for it is still on the way.
func (c *Conn) opened(ch *Channel) {
	if old := c.topics[ch.topic]; old != nil {
		c.ended(old, &ChannelError{Topic: old.topic, End: ChannelReplaced})
	}
	c.topics[ch.topic] = ch
	ch.open = true
	c.running.Go(ch.pump)
}

// takeEnd handles phx_close and phx_error. They carry the join's ref twice and
// must not be taken for the reply to the join, nor for the end of a later join
// of the same topic.
func (c *Conn) takeEnd(m Message, how ChannelEnd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := c.channels[m.JoinRef.Text()]
	if m.JoinRef == "" {
		ch = c.topics[m.Topic]
	}
	if ch == nil || ch.topic != m.Topic {
		return // of a join that is already over
	}
	end := &ChannelError{Topic: ch.topic, End: how, Payload: m.Payload}
	if how == ChannelClosed && ch.leaving() {
		end = &ChannelError{Topic: ch.topic, End: ChannelLeft}
	}
	c.ended(ch, end)
}

// ended takes a channel off and fails who waits on it; c.mu is held.
func (c *Conn) ended(ch *Channel, err error) {
	if c.channels[ch.joinRef] == ch {
		delete(c.channels, ch.joinRef)
	}
	if c.topics[ch.topic] == ch {
		delete(c.topics, ch.topic)
	}
	ch.finish(err)
	for ref, w := range c.waiters {
		if w.ch == ch {
			w.answer <- answer{err: ch.Err()}
			delete(c.waiters, ref)
		}
	}
}

// receiver finds the channel that a message is for: the join it names, or, for
// a broadcast, whichever join the topic has now.
func (c *Conn) receiver(m Message) *Channel {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.JoinRef == "" {
		return c.topics[m.Topic]
	}
	ch := c.channels[m.JoinRef.Text()]
	if ch == nil || !ch.open || ch.topic != m.Topic {
		return nil
	}
	return ch
}
