package channel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
)

// route handles one message in the socket's reading goroutine.
func (s *Socket) route(m Message) {
	ch := s.channel(m.Topic)
	switch {
	case m.Topic == topicPhoenix && m.Event == eventHeartbeat:
		s.reply("", m, "ok", nil)
	case m.Event == eventJoin && m.Topic != "" && m.Topic != topicPhoenix:
		s.join(ch, m)
	case m.Event == eventLeave && ch == nil && m.Topic != "" && m.Topic != topicPhoenix:
		s.reply(m.JoinRef, m, "ok", nil)
	case ch == nil || ch.leaving:
		s.unmatched(m)
	case m.JoinRef != "" && m.JoinRef != ch.joinRef:
		// Meant for an earlier join: dropped without a word, as Phoenix does.
		s.log.Debug("message of an old join", "topic", m.Topic, "event", m.Event)
	default:
		ch.leaving = m.Event == eventLeave
		select {
		case ch.mailbox <- m:
		case <-ch.ctx.Done(): // lost, like a push right behind a leave
		}
	}
}

// join ends an earlier join of the topic, asks, and answers.
func (s *Socket) join(old *ServerChannel, m Message) {
	replaced := false
	if old != nil {
		replaced = !old.leaving && old.finish(&ChannelError{Topic: m.Topic, End: ChannelReplaced})
		<-old.done // its Closed has run, and any other end has said its own goodbye
	}
	s.ask(m)
	if replaced {
		old.sayClose() // after the answer to the new join
	}
}

// ask lets the server's owner decide about a join.
func (s *Socket) ask(m Message) {
	s.mu.Lock()
	full := len(s.channels) >= maxChannels
	s.mu.Unlock()
	if full {
		s.reply(m.JoinRef, m, "error", map[string]string{"reason": "too many channels joined"})
		return
	}
	params := m.Payload
	if params == nil {
		params = json.RawMessage("null")
	}
	ch := newServerChannel(s, m)
	h, response, err := s.callJoin(ch, params)
	var answer outgoing
	if err == nil {
		if answer, err = encodeReply(m.JoinRef, m.Ref, m.Topic, "ok", response); err != nil {
			ch.guard(func() { h.Closed(err) })
		}
	}
	if err != nil {
		ch.finish(err)
		s.refuse(m, err)
		return
	}
	s.mu.Lock()
	s.channels[m.Topic] = ch
	s.mu.Unlock()
	ch.accept(answer)
	s.running.Go(func() { ch.run(h) })
}

// callJoin calls the Join hook. A panic in it is one client's crashed join.
func (s *Socket) callJoin(ch *ServerChannel, params json.RawMessage) (h Handler, response any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	h, response, err = s.server.Join(s.ctx, ch, params)
	if err == nil && h == nil {
		err = errors.New("the join was accepted without a handler")
	}
	return h, response, err
}

func (s *Socket) refuse(m Message, err error) {
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal) && refusal.Response != nil:
		s.reply(m.JoinRef, m, "error", refusal.Response)
	case errors.As(err, &refusal):
		s.reply(m.JoinRef, m, "error", map[string]string{"reason": refusal.Reason})
	case errors.Is(err, ErrUnmatchedTopic):
		s.unmatched(m)
	default:
		if !errors.Is(err, context.Canceled) {
			s.log.Error("join crashed", "topic", m.Topic, "error", err)
		}
		s.reply(m.JoinRef, m, "error", map[string]string{"reason": "join crashed"})
	}
}

// unmatched is the socket's own answer, whose join_ref is null whatever came.
func (s *Socket) unmatched(m Message) {
	s.reply("", m, "error", map[string]string{"reason": ErrUnmatchedTopic.Error()})
}

func (s *Socket) reply(joinRef Ref, m Message, status string, response any) {
	s.sendAll(encodeReply(joinRef, m.Ref, m.Topic, status, response))
}

// sendAll sends what was encoded. Nobody waits for the outcome: an end of the
// socket is seen by its reader, and what can't be encoded is a bug to be logged.
func (s *Socket) sendAll(f outgoing, err error) {
	if err != nil {
		s.log.Error("encoding a frame", "error", err)
		return
	}
	_ = s.send(f)
}

// forget makes the topic free again.
func (s *Socket) forget(ch *ServerChannel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.channels[ch.topic] == ch {
		delete(s.channels, ch.topic)
	}
}
