package channel_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brabo.dev/runner/channel"
)

// settle lets everything that is still on its way arrive, and waits for it.
func (p *player) settle() {
	if p.dialErr != nil {
		p.giveUp()
		return
	}
	defer p.conn.Close()
	defer p.peer.Close()
	if !p.peer.closeSent && p.barrier() {
		p.state = "connection open"
		p.unanswered()
		for topic, ch := range p.channels {
			if ch.Err() == nil { // so that its receiver ends
				p.peer.text(fmt.Sprintf(`[%q,%q,%q,"phx_close",{"reason":"end of the transcript"}]`, ch.JoinRef(), ch.JoinRef(), topic))
			}
		}
	} else {
		<-p.conn.Done()
		p.state = "connection " + describe(p.conn.Err())
	}
	for _, a := range p.actions {
		<-a.done
	}
	for _, r := range p.received {
		<-r.done
	}
	p.giveUp()
}

// barrier reports whether the connection lives: a heartbeat is answered, and so
// all that the server sent has been read.
func (p *player) barrier() bool {
	p.conn.SetLastRef(1 << 20) // no answer to what was not sent can be taken for this one's
	a := p.do("", func(ctx context.Context) (any, error) { return "", p.conn.Sync(ctx) })
	p.actions = p.actions[:len(p.actions)-1]
	frame := recorded{}
	for frame.event != "heartbeat" {
		m, sent := p.expect(a)
		if !sent {
			return false
		}
		frame, _ = parse(string(m.data), stepData{})
	}
	p.peer.text(fmt.Sprintf(`[null,%q,"phoenix","phx_reply",{"status":"ok","response":{}}]`, frame.ref))
	<-a.done
	return a.result == ""
}

// unanswered gives up what the server has not answered by the end. What has its
// answer is left to return first, so that the outcome does not hang on chance.
func (p *player) unanswered() {
	open := len(p.actions) - p.conn.Waiters()
	finished := make(chan struct{}, len(p.actions))
	for _, a := range p.actions {
		go func() { <-a.done; finished <- struct{}{} }()
	}
	for range open {
		<-finished
	}
	p.giveUp()
	for range len(p.actions) - open { // before anything else could be their end
		<-finished
	}
}

// outcome is a line for each thing that the client did or saw.
func (p *player) outcome() (lines []string) {
	if p.dialErr != nil {
		return []string{"dial: " + describe(p.dialErr)}
	}
	lines = append(lines, "dial: ok")
	for _, a := range p.actions {
		lines = append(lines, a.label+": "+a.result)
	}
	for _, r := range p.received {
		for _, line := range r.lines {
			lines = append(lines, "received "+line)
		}
		if end := describe(r.ch.Err()); end != `channel closed {"reason":"end of the transcript"}` {
			lines = append(lines, "channel ended: "+end)
		}
	}
	return append(lines, p.state)
}

// describe names an error by its type.
func describe(err error) string {
	var (
		refused *channel.RefusedError
		join    *channel.JoinError
		reply   *channel.ReplyError
		ended   *channel.ChannelError
		end     *channel.EndError
	)
	switch {
	case errors.As(err, &refused):
		text := fmt.Sprintf("refused %d %q", refused.Status, refused.Body)
		if wait, ok := refused.RetryAfter(time.Now()); ok {
			text += fmt.Sprintf(" retry after %v", wait)
		}
		return text
	case errors.As(err, &join):
		return fmt.Sprintf("refused %s %q", join.Status, join.Reason())
	case errors.As(err, &reply):
		return reply.Status + " " + string(reply.Response)
	case errors.As(err, &ended):
		return fmt.Sprintf("channel %s %s", ended.End, ended.Payload)
	case errors.As(err, &end) && end.Code != 0:
		return fmt.Sprintf("ended %s %d", end.Reason, end.Code)
	case errors.As(err, &end):
		return "ended " + string(end.Reason)
	case errors.Is(err, context.Canceled):
		return "no answer"
	}
	return fmt.Sprint(err)
}
