package channel

import "sync/atomic"

// An inbox holds this much for a receiver before the socket is not read on.
const (
	inboxMessages = 64
	inboxBytes    = 1 << 20
)

// inbox is the bounded queue between the connection's reader and the receiver
// of one channel. It lets replies and heartbeats through while a receiver is
// busy, up to its bound.
type inbox struct {
	queue chan *Message // by reference: it is there for each channel, and mostly empty
	out   chan Message
	bytes *atomic.Int64 // waiting in queue
	space chan struct{} // holds one token when bytes has gone down
}

func newInbox() inbox {
	return inbox{
		queue: make(chan *Message, inboxMessages), out: make(chan Message),
		bytes: new(atomic.Int64), space: make(chan struct{}, 1),
	}
}

func sizeOf(m Message) int64 { return int64(len(m.Payload) + len(m.Binary)) }

// deliver puts a message into the channel's inbox. While it has to wait, the
// connection is not read and the heartbeat's deadline pauses.
func (c *Conn) deliver(ch *Channel, m Message) {
	size, in := sizeOf(m), &ch.inbox
	full := func() bool { held := in.bytes.Load(); return held > 0 && held+size > inboxBytes }
	if !full() && len(in.queue) < cap(in.queue) { // only this goroutine adds
		in.bytes.Add(size)
		in.queue <- &m
		return
	}
	c.hold()
	defer c.release()
	for full() {
		select {
		case <-in.space:
		case <-ch.gone:
			return
		case <-ch.drop:
			return
		case <-c.closing:
			return
		}
	}
	in.bytes.Add(size)
	select {
	case in.queue <- &m:
	case <-ch.gone:
	case <-ch.drop:
	case <-c.closing:
	}
}

// pump hands messages on to the receiver until the channel has ended and all
// that came before is received, or is not wanted any more.
func (ch *Channel) pump() {
	defer close(ch.inbox.out)
	for {
		select {
		case m := <-ch.inbox.queue:
			ch.hand(*m)
			continue
		case <-ch.gone:
		}
		for {
			select {
			case m := <-ch.inbox.queue:
				ch.hand(*m)
			default:
				return
			}
		}
	}
}

func (ch *Channel) hand(m Message) {
	in := &ch.inbox
	select {
	case in.out <- m:
	case <-ch.drop:
	case <-ch.conn.closing:
	}
	in.bytes.Add(-sizeOf(m))
	select {
	case in.space <- struct{}{}:
	default:
	}
}
