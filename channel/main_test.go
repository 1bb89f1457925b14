package channel_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"brabo.dev/runner/channel"
)

// patience is how long a test waits for what has to happen. It is never
// measured against.
const patience = 60 * time.Second

func TestMain(m *testing.M) {
	if endpoint := os.Getenv(phxEndpoint); endpoint != "" {
		phxClient(endpoint)
	}
	goleak.VerifyTestMain(m)
}

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// hub is the owner of a Server in tests: it takes single-use tickets, lets join
// what the topic's name allows, and notes what happens.
type hub struct {
	*channel.Server
	URL string // complete but for the ticket

	mu       sync.Mutex
	spent    map[string]bool
	channels []*channel.ServerChannel

	handled chan channel.Message // every message, where somebody listens
	closed  chan error           // every Closed
	joins   chan *channel.ServerChannel
}

// newHub starts a hub on loopback; prepare may change its Server first.
func newHub(t testing.TB, prepare func(*channel.Server)) *hub {
	t.Helper()
	h := &hub{
		Server: &channel.Server{}, spent: map[string]bool{},
		handled: make(chan channel.Message, 1<<17), closed: make(chan error, 1<<14),
		joins: make(chan *channel.ServerChannel, 1<<14),
	}
	h.Connect = h.connect
	h.Join = h.join
	if prepare != nil {
		prepare(h.Server)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/runner/websocket", func(w http.ResponseWriter, r *http.Request) { h.server().ServeHTTP(w, r) })
	ts := httptest.NewServer(mux)
	h.URL = ts.URL + "/runner/websocket?ticket="
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := h.server().Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		ts.Close()
	})
	return h
}

func (h *hub) connect(r *http.Request) (channel.Session, error) {
	ticket := r.URL.Query().Get("ticket")
	h.mu.Lock()
	defer h.mu.Unlock()
	if ticket == "" || h.spent[ticket] {
		return channel.Session{}, errors.New("no good ticket")
	}
	h.spent[ticket] = ticket != "restart" // for a client that can't bring another
	return channel.Session{ID: "socket:" + ticket, Value: ticket}, nil
}

func (h *hub) join(ctx context.Context, ch *channel.ServerChannel, params json.RawMessage) (channel.Handler, any, error) {
	kind, ok := strings.CutPrefix(ch.Topic(), "terminal:")
	if !ok {
		return nil, nil, channel.ErrUnmatchedTopic
	}
	switch kind {
	case "refuse":
		return nil, nil, &channel.Refusal{Reason: "unauthorized"}
	case "crash":
		return nil, nil, errors.New("out of order")
	case "panic":
		panic("out of order")
	case "never":
		<-ctx.Done()
		return nil, nil, ctx.Err()
	case "pushjoin":
		if err := ch.Push("exec", map[string]string{"id": "first"}); err != nil {
			return nil, nil, err
		}
	}
	h.mu.Lock()
	h.channels = append(h.channels, ch)
	h.mu.Unlock()
	h.joins <- ch
	return &room{h, ch}, map[string]any{"topic": ch.Topic(), "params": params}, nil
}

// room answers the events of one channel.
type room struct {
	h  *hub
	ch *channel.ServerChannel
}

func (r *room) Handle(ctx context.Context, m channel.Message) {
	switch m.Event {
	case "echo":
		if m.Binary != nil {
			r.ch.Reply(m, "ok", channel.Binary(m.Binary))
			return
		}
		r.ch.Reply(m, "ok", m.Payload)
	case "fail":
		r.ch.Reply(m, "error", map[string]string{"reason": "nope"})
	case "partial":
		r.ch.Reply(m, "partial", nil)
	case "push_then_reply":
		r.ch.Push("exec", m.Payload)
		r.ch.Reply(m, "ok", nil)
	case "blob":
		r.ch.Push("blob", channel.Binary("\x00\x01\x02\xff"))
	case "crash":
		panic("handler crashed")
	case "stop":
		r.ch.Close(nil)
	case "stop_error":
		r.ch.Close(errors.New("boom"))
	case "wait":
		<-ctx.Done()
	default:
		r.h.handled <- m
	}
}

func (r *room) Closed(err error) { r.h.closed <- err }

// dial connects with a ticket and closes at the end of the test.
func (h *hub) dial(t testing.TB, d *channel.Dialer, ticket string) *channel.Conn {
	t.Helper()
	conn, err := d.Dial(testContext(t), h.URL+ticket)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func join(t testing.TB, conn *channel.Conn, topic string) *channel.Channel {
	t.Helper()
	ch, _, err := conn.Join(testContext(t), topic, nil)
	if err != nil {
		t.Fatalf("join %s: %v", topic, err)
	}
	return ch
}

// next waits for a value.
func next[T any](t testing.TB, from <-chan T, what string) T {
	t.Helper()
	select {
	case v, ok := <-from:
		if !ok {
			t.Fatalf("%s: the channel was closed", what)
		}
		return v
	case <-time.After(patience):
		t.Fatalf("no %s came", what)
	}
	panic("unreachable")
}

// gone waits for a channel to be closed, whatever comes before.
func gone[T any](t testing.TB, from <-chan T, what string) {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case _, ok := <-from:
			if !ok {
				return
			}
		case <-deadline:
			t.Fatalf("%s did not end", what)
		}
	}
}

func endReason(t testing.TB, err error) channel.EndReason {
	t.Helper()
	var end *channel.EndError
	if !errors.As(err, &end) {
		t.Fatalf("error %v (%T) is no *EndError", err, err)
	}
	return end.Reason
}
