package channel

import (
	"errors"
	"time"

	"github.com/gorilla/websocket"
)

// pause counts what holds the heartbeat's deadline up. Conn.mu guards it.
type pause struct {
	count int
	until time.Time // when the last one ended
}

func (p *pause) begin() { p.count++ }

func (p *pause) end() {
	p.count--
	p.until = time.Now()
}

// hold makes the heartbeat's deadline wait until release.
func (c *Conn) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pause.begin()
}

func (c *Conn) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pause.end()
}

// left is how much longer a reply may take, 0 when its time is up.
func (p *pause) left(grace time.Duration) time.Duration {
	if p.count > 0 {
		return grace
	}
	return max(0, grace-time.Since(p.until))
}

// HeartbeatNow sends a heartbeat at once, whatever waits to be written: after a
// suspend of the machine nobody knows whether the server is still there.
func (c *Conn) HeartbeatNow() {
	select {
	case c.beatNow <- struct{}{}:
	default:
	}
}

// heartbeat is the frame [null, ref, "phoenix", "heartbeat", {}].
func heartbeat(ref string) []byte {
	return []byte(`[null,"` + ref + `","phoenix","heartbeat",{}]`)
}

// beat sends a heartbeat every interval and ends the connection when a reply
// takes longer than the grace. A server that is gone is so noticed within one
// interval and one grace.
func (c *Conn) beat() {
	timer := time.NewTimer(c.o.Heartbeat)
	defer timer.Stop()
	var ref string // of the heartbeat that is not answered yet
	var w *waiter
	var sent time.Time
	send := func() bool {
		if w != nil {
			c.forget(ref)
		}
		w = &waiter{answer: make(chan answer, 1)}
		var err error
		if ref, err = c.await(w); err != nil {
			return false
		}
		if err := c.writeNow(outgoing{websocket.TextMessage, heartbeat(ref)}); err != nil {
			return false
		}
		sent = time.Now()
		timer.Reset(c.o.HeartbeatGrace)
		return true
	}
	for {
		var replied chan answer
		if w != nil {
			replied = w.answer
		}
		select {
		case <-c.done:
			return
		case <-replied:
			w = nil
			timer.Reset(max(0, c.o.Heartbeat-time.Since(sent)))
		case data := <-c.urgent:
			if c.writeNow(outgoing{websocket.TextMessage, data}) != nil {
				return
			}
		case <-c.beatNow:
			if !send() {
				return
			}
		case <-timer.C:
			if w == nil {
				if !send() {
					return
				}
				continue
			}
			c.mu.Lock()
			left := c.pause.left(c.o.HeartbeatGrace)
			c.mu.Unlock()
			if left == 0 {
				c.fail(&EndError{Reason: EndHeartbeatLost, Err: errNoReply})
				return
			}
			timer.Reset(left)
		}
	}
}

var errNoReply = errors.New("a heartbeat was not answered")
