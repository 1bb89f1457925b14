package channel_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"brabo.dev/runner/channel"
)

// inBubble runs a client against a played server on an in-memory connection,
// with the clock of synctest.
func inBubble(t *testing.T, test func(t *testing.T, conn *channel.Conn, p *peer)) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		d := &channel.Dialer{
			DialContext: func(context.Context, string, string) (net.Conn, error) { return client, nil },
			Proxy:       noProxy,
		}
		dialled := make(chan *channel.Conn, 1)
		go func() {
			conn, err := d.Dial(t.Context(), "http://server/websocket")
			if err != nil {
				t.Error(err)
			}
			dialled <- conn
		}()
		p := newPeer(t, server)
		p.upgrade("")
		conn := <-dialled
		go p.listen()
		test(t, conn, p)
		server.Close()
		conn.Close()
	})
}

const beat = `[null,"1","phoenix","heartbeat",{}]`

func TestHeartbeatIsSentEachIntervalAndItsLossEndsTheConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, conn *channel.Conn, p *peer) {
		start := time.Now()
		for i, ref := range []string{"1", "2"} {
			m := <-p.messages
			if got := string(m.data); got != `[null,"`+ref+`","phoenix","heartbeat",{}]` {
				t.Errorf("sent %s", got)
			}
			if at := time.Since(start); at != time.Duration(i+1)*30*time.Second {
				t.Errorf("heartbeat %d at %v", i, at)
			}
			p.text(`[null,"` + ref + `","phoenix","phx_reply",{"status":"ok","response":{}}]`)
		}
		<-p.messages // the third is not answered
		<-conn.Done()
		if at := time.Since(start); at != 100*time.Second || endReason(t, conn.Err()) != channel.EndHeartbeatLost {
			t.Errorf("ended after %v with %v", at, conn.Err())
		}
	})
}

func TestHeartbeatsDeadlinePausesWhileAJoinIsOpen(t *testing.T) {
	inBubble(t, func(t *testing.T, conn *channel.Conn, p *peer) {
		joined := make(chan error, 1)
		go func() {
			_, _, err := conn.Join(t.Context(), "terminal:slow", nil)
			joined <- err
		}()
		<-p.messages
		time.Sleep(10 * time.Minute) // the server is busy with the join
		p.text(`["1","1","terminal:slow","phx_reply",{"status":"ok","response":{}}]`)
		if err := <-joined; err != nil {
			t.Errorf("join: %v", err)
		}
		if m := <-p.messages; string(m.data) != `[null,"2","phoenix","heartbeat",{}]` {
			t.Errorf("sent %s", m.data)
		}
		time.Sleep(9 * time.Second)
		if conn.Err() != nil {
			t.Errorf("ended during the grace after the join: %v", conn.Err())
		}
		time.Sleep(time.Minute)
		if endReason(t, conn.Err()) != channel.EndHeartbeatLost {
			t.Errorf("ended with %v", conn.Err())
		}
	})
}

func TestHeartbeatsDeadlinePausesWhileNobodyReceives(t *testing.T) {
	inBubble(t, func(t *testing.T, conn *channel.Conn, p *peer) {
		joined := make(chan *channel.Channel, 1)
		go func() {
			ch, _, err := conn.Join(t.Context(), "terminal:1", nil)
			if err != nil {
				t.Error(err)
			}
			joined <- ch
		}()
		<-p.messages
		p.text(`["1","1","terminal:1","phx_reply",{"status":"ok","response":{}}]`)
		ch := <-joined
		const n = 200
		go func() {
			for range n {
				p.text(`["1",null,"terminal:1","exec",{}]`)
			}
			p.text(`[null,"2","phoenix","phx_reply",{"status":"ok","response":{}}]`)
		}()
		time.Sleep(10 * time.Minute)
		if conn.Err() != nil {
			t.Fatalf("a slow receiver ended the connection: %v", conn.Err())
		}
		for range n {
			<-ch.Receive()
		}
		synctest.Wait()
		if err := conn.Err(); err != nil {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestHeartbeatNowIsSentAtOnceAndWatched(t *testing.T) {
	inBubble(t, func(t *testing.T, conn *channel.Conn, p *peer) {
		start := time.Now()
		conn.HeartbeatNow()
		if m := <-p.messages; string(m.data) != beat || time.Since(start) != 0 {
			t.Errorf("sent %s after %v", m.data, time.Since(start))
		}
		<-conn.Done()
		if at := time.Since(start); at != 10*time.Second || endReason(t, conn.Err()) != channel.EndHeartbeatLost {
			t.Errorf("ended after %v with %v", at, conn.Err())
		}
	})
}
