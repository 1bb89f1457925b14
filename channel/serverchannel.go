package channel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/gorilla/websocket"
)

// mailboxSize is how many messages may wait for a handler. When it is full the
// socket is not read any further.
const mailboxSize = 64

// ServerChannel is one client's membership in one topic.
type ServerChannel struct {
	socket  *Socket
	topic   string
	joinRef Ref
	ctx     context.Context // ends with the channel, when what was read is handled
	cancel  context.CancelFunc
	mailbox chan Message
	done    chan struct{} // closed when the handler saw its Closed

	leaving bool // phx_leave was read; of the socket's reader alone

	mu       sync.Mutex
	joined   bool
	ended    bool
	held     []outgoing // pushed before the join was answered
	heldSize int        // bytes
	err      error
}

func newServerChannel(s *Socket, m Message) *ServerChannel {
	ctx, cancel := context.WithCancel(s.handling)
	return &ServerChannel{
		socket: s, topic: m.Topic, joinRef: m.JoinRef, ctx: ctx, cancel: cancel,
		mailbox: make(chan Message, mailboxSize), done: make(chan struct{}),
	}
}

// Topic is the topic that was joined.
func (ch *ServerChannel) Topic() string { return ch.topic }

// Socket is the client's connection.
func (ch *ServerChannel) Socket() *Socket { return ch.socket }

// Push sends a message to the client. It only queues and never waits; a client
// for which too much waits is disconnected, and that is the error. It may be
// called by any goroutine, and before Join has returned.
func (ch *ServerChannel) Push(event string, payload any) error {
	if data, ok := payload.(Binary); ok {
		b, err := encodeBinary(binaryPush, data, ch.joinRef.Text(), ch.topic, event)
		if err != nil {
			return err
		}
		return ch.send(outgoing{websocket.BinaryMessage, b})
	}
	b, err := encodeText(ch.joinRef, "", ch.topic, event, payload)
	if err != nil {
		return err
	}
	return ch.send(outgoing{websocket.TextMessage, b})
}

// Reply answers a message. status is "ok", "error" or any other word; response
// is any JSON value, or Binary; nil is {}.
func (ch *ServerChannel) Reply(m Message, status string, response any) error {
	f, err := encodeReply(ch.joinRef, m.Ref, ch.topic, status, response)
	if err != nil {
		return err
	}
	return ch.send(f)
}

// Close ends the channel: with phx_close when err is nil, else with phx_error
// and the error's text as the reason. It does not wait. Only the first counts.
func (ch *ServerChannel) Close(err error) {
	ch.finish(err)
}

// finish reports whether this was what ended the channel.
func (ch *ServerChannel) finish(err error) bool {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if ch.ended {
		return false
	}
	ch.ended, ch.err = true, err
	ch.cancel()
	return true
}

// send queues a frame, behind the join's reply while there is none yet.
func (ch *ServerChannel) send(f outgoing) error {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	switch {
	case ch.ended && ch.err != nil:
		return ch.err
	case ch.ended:
		return &ChannelError{Topic: ch.topic, End: ChannelClosed}
	case ch.joined:
		return ch.socket.send(f)
	case ch.heldSize > 0 && ch.heldSize+len(f.data) > ch.socket.out.limit:
		return ErrQueueFull
	}
	ch.held = append(ch.held, f)
	ch.heldSize += len(f.data) + frameCost
	return nil
}

// accept answers the join, and lets what was pushed meanwhile follow.
func (ch *ServerChannel) accept(reply outgoing) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	ch.joined = true
	// A full queue ends the socket, and with it this channel.
	_ = ch.socket.send(append([]outgoing{reply}, ch.held...)...)
	ch.held = nil
}

// run calls the handler until the channel ends.
func (ch *ServerChannel) run(h Handler) {
	defer close(ch.done)
	var leave *Message
	for ch.ctx.Err() == nil && leave == nil {
		select {
		case m, ok := <-ch.mailbox:
			switch {
			case !ok: // the socket ended, and all that it read is handled
				ch.finish(context.Cause(ch.socket.ctx))
			case m.Event == eventLeave:
				leave = &m
				ch.finish(&ChannelError{Topic: ch.topic, End: ChannelLeft})
			default:
				ch.guard(func() { h.Handle(ch.ctx, m) })
			}
		case <-ch.ctx.Done():
		}
	}
	ch.finish(context.Cause(ch.socket.ctx)) // unless Close, a leave or a new join did it
	ch.mu.Lock()
	err := ch.err
	ch.mu.Unlock()
	ch.guard(func() { h.Closed(err) })
	ch.socket.forget(ch)
	ch.sayEnd(err, leave)
}

// guard lets a panic end this channel alone.
func (ch *ServerChannel) guard(f func()) {
	defer func() {
		if p := recover(); p != nil {
			ch.socket.log.Error("channel crashed", "topic", ch.topic, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			ch.finish(errCrashed)
		}
	}()
	f()
}

// errCrashed carries the reason that Phoenix gives since 1.8.10.
var errCrashed = errors.New("channel_crash")

// sayEnd tells the client. The socket's own end needs no word.
func (ch *ServerChannel) sayEnd(err error, leave *Message) {
	if leave != nil {
		f, ferr := encodeReply(leave.JoinRef, leave.Ref, ch.topic, "ok", nil)
		ch.socket.sendAll(f, ferr)
		ch.sayClose()
		return
	}
	var end *EndError
	var channelEnd *ChannelError
	switch {
	case errors.As(err, &end):
	case errors.As(err, &channelEnd) && channelEnd.End == ChannelReplaced: // the new join says it
	case err == nil, errors.As(err, &channelEnd):
		ch.sayClose()
	default:
		b, eerr := encodeText(ch.joinRef, ch.joinRef, ch.topic, eventError, map[string]string{"reason": err.Error()})
		ch.socket.sendAll(outgoing{websocket.TextMessage, b}, eerr)
	}
}

// sayClose sends phx_close, whose ref is the join's.
func (ch *ServerChannel) sayClose() {
	b, err := encodeText(ch.joinRef, ch.joinRef, ch.topic, eventClose, nil)
	ch.socket.sendAll(outgoing{websocket.TextMessage, b}, err)
}

func encodeReply(joinRef, ref Ref, topic, status string, response any) (outgoing, error) {
	if data, ok := response.(Binary); ok {
		b, err := encodeBinary(binaryReply, data, joinRef.Text(), ref.Text(), topic, status)
		return outgoing{websocket.BinaryMessage, b}, err
	}
	if response == nil {
		response = json.RawMessage("{}")
	}
	b, err := encodeText(joinRef, ref, topic, eventReply, struct {
		Status   string `json:"status"`
		Response any    `json:"response"`
	}{status, response})
	return outgoing{websocket.TextMessage, b}, err
}

func encodeBroadcast(topic, event string, payload any) (outgoing, error) {
	if data, ok := payload.(Binary); ok {
		b, err := encodeBinary(binaryBroadcast, data, topic, event)
		return outgoing{websocket.BinaryMessage, b}, err
	}
	b, err := encodeText("", "", topic, event, payload)
	return outgoing{websocket.TextMessage, b}, err
}
