package channel_test

import (
	"context"
	"net"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"brabo.dev/runner/channel"
)

const burst = 100_000

func TestOrderOfManyPushesIsKeptBothWays(t *testing.T) {
	h := newHub(t, func(s *channel.Server) { s.QueueLimit = 256 << 20 })
	ch := join(t, h.dial(t, &channel.Dialer{}, "t"), "terminal:1")
	sc := next(t, h.joins, "join")
	ctx := testContext(t)
	var sending sync.WaitGroup
	sending.Go(func() {
		for i := range burst {
			if err := sc.Push("exec", i); err != nil {
				t.Errorf("server push %d: %v", i, err)
				return
			}
		}
	})
	sending.Go(func() {
		for i := range burst {
			if err := ch.Push(ctx, "exec_result", i); err != nil {
				t.Errorf("client push %d: %v", i, err)
				return
			}
		}
	})
	for i := range burst {
		if m := next(t, ch.Receive(), "server push"); string(m.Payload) != strconv.Itoa(i) {
			t.Fatalf("received %s at place %d", m.Payload, i)
		}
	}
	for i := range burst {
		if m := next(t, h.handled, "client push"); string(m.Payload) != strconv.Itoa(i) {
			t.Fatalf("handled %s at place %d", m.Payload, i)
		}
	}
	sending.Wait()
}

func TestAThousandConnectionsCutAtAnyMomentLeaveNothing(t *testing.T) {
	h := newHub(t, nil)
	before := goleak.IgnoreCurrent()
	for i := range 1000 {
		var raw net.Conn
		d := &channel.Dialer{DialContext: func(ctx context.Context, network, addr string) (conn net.Conn, err error) {
			raw, err = (&net.Dialer{}).DialContext(ctx, network, addr)
			return raw, err
		}}
		conn, err := d.Dial(testContext(t), h.URL+strconv.Itoa(i))
		if err != nil {
			t.Fatal(err)
		}
		cut := func() {
			raw.(*net.TCPConn).SetLinger(0) // a reset, without a close frame
			raw.Close()
		}
		switch i % 5 {
		case 0: // idle
			cut()
		case 1: // during a join
			var joining sync.WaitGroup
			joining.Go(func() { conn.Join(testContext(t), "terminal:1", nil) })
			cut()
			joining.Wait()
		case 2: // while messages go both ways
			ch := join(t, conn, "terminal:1")
			var pushing sync.WaitGroup
			pushing.Go(func() {
				for ch.Push(testContext(t), "echo", nil) == nil {
					runtime.Gosched()
				}
			})
			ch.Call(testContext(t), "echo", nil)
			cut()
			pushing.Wait()
		case 3: // with messages that nobody receives
			join(t, conn, "terminal:1")
			h.Broadcast("terminal:1", "note", "unread")
			cut()
		case 4: // in order
			ch := join(t, conn, "terminal:1")
			if err := ch.Leave(testContext(t)); err != nil {
				t.Fatal(err)
			}
		}
		var closing sync.WaitGroup
		for range 2 { // closing is idempotent, also at the same time
			closing.Go(func() { conn.Close() })
		}
		closing.Wait()
		if conn.Err() == nil {
			t.Fatal("a closed connection without a reason")
		}
	}
	if err := h.Shutdown(testContext(t)); err != nil {
		t.Fatal(err)
	}
	goleak.VerifyNone(t, before)
}
