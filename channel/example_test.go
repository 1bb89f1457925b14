package channel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"brabo.dev/runner/channel"
)

// greeter is a handler that answers what it is asked.
type greeter struct{ ch *channel.ServerChannel }

func (g greeter) Handle(_ context.Context, m channel.Message) { g.ch.Reply(m, "ok", m.Payload) }
func (g greeter) Closed(error)                                {}

// A server that greets, and a client that joins, receives and calls.
func Example() {
	server := &channel.Server{
		Connect: func(r *http.Request) (channel.Session, error) {
			return channel.Session{ID: "runner:" + r.URL.Query().Get("ticket")}, nil
		},
		Join: func(_ context.Context, ch *channel.ServerChannel, _ json.RawMessage) (channel.Handler, any, error) {
			return greeter{ch}, nil, ch.Push("hello", "welcome to "+ch.Topic())
		},
	}
	mux := http.NewServeMux()
	mux.Handle("/runner/websocket", server)
	ts := httptest.NewServer(mux)
	defer ts.Close()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := (&channel.Dialer{}).Dial(ctx, ts.URL+"/runner/websocket?ticket=t1")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	ch, _, err := conn.Join(ctx, "terminal:1", map[string][]string{"capacidades": {"exec"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := <-ch.Receive()
	fmt.Println(m.Event, string(m.Payload))
	reply, err := ch.Call(ctx, "echo", []int{1, 2, 3})
	fmt.Println(string(reply), err)
	// Output:
	// hello "welcome to terminal:1"
	// [1,2,3] <nil>
}
