package channel_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"brabo.dev/runner/channel"
)

// dialPeer connects a client to a server that the test plays itself.
func dialPeer(t testing.TB, d *channel.Dialer) (*channel.Conn, *peer) {
	t.Helper()
	ln := loopback(t)
	type result struct {
		conn *channel.Conn
		err  error
	}
	dialled := make(chan result, 1)
	go func() {
		conn, err := d.Dial(testContext(t), "http://"+ln.Addr().String()+"/websocket")
		dialled <- result{conn, err}
	}()
	p := acceptPeer(t, ln)
	p.upgrade("")
	r := next(t, dialled, "connection")
	if r.err != nil {
		t.Fatal(r.err)
	}
	t.Cleanup(func() { r.conn.Close() })
	go p.listen()
	return r.conn, p
}

func TestBadFramesOfTheServerEndTheConnectionByName(t *testing.T) {
	text := func(s string) func(*peer) { return func(p *peer) { p.text(s) } }
	tests := map[string]struct {
		send func(*peer)
		want channel.EndReason
	}{
		"not JSON":             {text(`{not json`), channel.EndProtocolError},
		"empty text":           {text(``), channel.EndProtocolError},
		"V1 object":            {text(`{"topic":"t","event":"phx_reply","payload":{},"ref":"1"}`), channel.EndProtocolError},
		"four elements":        {text(`[null,null,"t","e"]`), channel.EndProtocolError},
		"numeric topic":        {text(`[null,null,7,"e",{}]`), channel.EndProtocolError},
		"reply of null":        {text(`["1","1","terminal:1","phx_reply",null]`), channel.EndProtocolError},
		"reply without status": {text(`["1","1","terminal:1","phx_reply",{}]`), channel.EndProtocolError},
		"not UTF-8":            {text("[\"1\",null,\"t\",\"\xff\",{}]"), channel.EndProtocolError},
		"binary rubbish":       {func(p *peer) { p.frame(0x80|opBinary, []byte("\x07rubbish")) }, channel.EndProtocolError},
		"empty binary":         {func(p *peer) { p.frame(0x80|opBinary, nil) }, channel.EndProtocolError},
		"reserved bits":        {func(p *peer) { p.frame(0x80|0x70|opText, []byte(`[]`)) }, channel.EndProtocolError},
		"unknown opcode":       {func(p *peer) { p.frame(0x80|0x3, nil) }, channel.EndProtocolError},
		"9 MiB": {func(p *peer) {
			p.text(`[null,null,"t","e","` + strings.Repeat("x", 9<<20) + `"]`)
		}, channel.EndReadLimit},
		"close during join":   {func(p *peer) { p.close(1011) }, channel.EndClosedByServer},
		"hang-up during join": {func(p *peer) { p.Close() }, channel.EndNetwork},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			conn, p := dialPeer(t, &channel.Dialer{})
			joined := make(chan error, 1)
			go func() {
				_, _, err := conn.Join(testContext(t), "terminal:1", nil)
				joined <- err
			}()
			next(t, p.messages, "join")
			tt.send(p)
			if err := next(t, joined, "end of the join"); endReason(t, err) != tt.want {
				t.Errorf("join ended with %v, want %s", err, tt.want)
			}
			gone(t, conn.Done(), "connection")
			if endReason(t, conn.Err()) != tt.want {
				t.Errorf("connection ended with %v, want %s", conn.Err(), tt.want)
			}
		})
	}
}

func TestOddFramesOfTheServerAreTaken(t *testing.T) {
	conn, p := dialPeer(t, &channel.Dialer{})
	joined := make(chan *channel.Channel, 1)
	go func() {
		ch, _, err := conn.Join(testContext(t), "terminal:1", nil)
		if err != nil {
			t.Error(err)
		}
		joined <- ch
	}()
	next(t, p.messages, "join")
	p.text(`[null,"99","terminal:1","phx_reply",null]`)             // nobody waits for it
	p.text(`["1",null,"terminal:1","early",{}]`)                    // not joined yet
	p.text(`[1,1,"terminal:1","phx_reply",{"status":"ok"}]`)        // numeric refs, no response
	p.text(`["7",null,"terminal:1","stale",{}]`)                    // an older join's
	p.text(`["7","7","terminal:1","phx_close",{}]`)                 // an older join's end
	p.text(`["1","1","terminal:other","phx_error",{}]`)             // another topic's
	p.text(`["1",null,"terminal:1","exec",null,"a sixth element"]`) // null payload
	p.text(`[null,null,"terminal:other","note",{}]`)                // a topic not joined
	p.text(`[null,null,"terminal:1","note",[1]]`)                   // a broadcast
	ch := next(t, joined, "channel")
	for _, want := range []string{"exec null", "note [1]"} {
		if m := next(t, ch.Receive(), "message"); m.Event+" "+string(m.Payload) != want {
			t.Errorf("received %s %s, want %s", m.Event, m.Payload, want)
		}
	}
	if ch.Err() != nil || conn.Err() != nil {
		t.Errorf("ended with %v, %v", ch.Err(), conn.Err())
	}
}

func TestJoinThatIsNeverAnsweredIsLeft(t *testing.T) {
	conn, p := dialPeer(t, &channel.Dialer{})
	ctx, cancel := context.WithCancel(testContext(t))
	joined := make(chan error, 1)
	go func() {
		_, _, err := conn.Join(ctx, "terminal:1", nil)
		joined <- err
	}()
	next(t, p.messages, "join")
	cancel()
	if err := next(t, joined, "end of the join"); !errors.Is(err, context.Canceled) {
		t.Errorf("join ended with %v", err)
	}
	if m := next(t, p.messages, "leave"); string(m.data) != `["1","2","terminal:1","phx_leave",{}]` {
		t.Errorf("sent %s", m.data)
	}
	p.text(`["1","1","terminal:1","phx_reply",{"status":"ok","response":{}}]`) // too late
	p.text(`["1","2","terminal:1","phx_reply",{"status":"ok","response":{}}]`)
	p.text(`["1","1","terminal:1","phx_close",{}]`)
	go func() {
		if m, ok := <-p.messages; ok && string(m.data) == `[null,"3","phoenix","heartbeat",{}]` {
			p.text(`[null,"3","phoenix","phx_reply",{"status":"ok","response":{}}]`)
		}
	}()
	if err := conn.Sync(testContext(t)); err != nil {
		t.Errorf("the connection is of no use after it: %v", err)
	}
}

func TestPushesBeyondTheQueueLimitFailAtOnceAndCloseFreesTheStuckOne(t *testing.T) {
	conn, p, ch := joinSilentPeer(t, &channel.Dialer{QueueLimit: 1, WriteTimeout: patience})
	defer p.Close()
	stuck := make(chan error, 1)
	go func() { stuck <- ch.Push(testContext(t), "big", strings.Repeat("x", 64<<20)) }() // nobody reads
	if _, err := p.r.Peek(4096); err != nil {                                            // it has begun
		t.Fatal(err)
	}
	if err := ch.Push(testContext(t), "small", nil); !errors.Is(err, channel.ErrQueueFull) {
		t.Errorf("the push behind it: %v", err)
	}
	conn.Close()
	if err := next(t, stuck, "end of the push"); endReason(t, err) != channel.EndCancelled {
		t.Errorf("stuck push ended with %v", err)
	}
}

// joinSilentPeer joins a server that reads nothing after the join.
func joinSilentPeer(t testing.TB, d *channel.Dialer) (*channel.Conn, *peer, *channel.Channel) {
	t.Helper()
	ln := loopback(t)
	type result struct {
		conn *channel.Conn
		ch   *channel.Channel
		err  error
	}
	joined := make(chan result, 1)
	go func() {
		conn, err := d.Dial(testContext(t), "http://"+ln.Addr().String()+"/websocket")
		if err != nil {
			joined <- result{err: err}
			return
		}
		ch, _, err := conn.Join(testContext(t), "terminal:1", nil)
		joined <- result{conn, ch, err}
	}()
	p := acceptPeer(t, ln)
	p.upgrade("")
	if _, err := p.r.Peek(2); err != nil { // the join is on its way
		t.Fatal(err)
	}
	p.text(`["1","1","terminal:1","phx_reply",{"status":"ok","response":{}}]`)
	r := next(t, joined, "channel")
	if r.err != nil {
		t.Fatal(r.err)
	}
	t.Cleanup(func() { r.conn.Close() })
	return r.conn, p, r.ch
}
