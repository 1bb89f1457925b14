package channel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"brabo.dev/runner/channel"
)

// rawClient is a client without manners.
func (h *hub) rawClient(t testing.TB, ticket string) *websocket.Conn {
	t.Helper()
	ws, _, err := websocket.DefaultDialer.DialContext(testContext(t), "ws"+strings.TrimPrefix(h.URL, "http")+ticket+"&vsn=2.0.0", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	ws.SetReadDeadline(time.Now().Add(patience))
	return ws
}

func say(t testing.TB, ws *websocket.Conn, text string) {
	t.Helper()
	if err := ws.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func hear(t testing.TB, ws *websocket.Conn) string {
	t.Helper()
	_, data, err := ws.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestUpgradeIsRefusedBeforeATicketIsSpent(t *testing.T) {
	h := newHub(t, nil)
	h.Connect = func(r *http.Request) (channel.Session, error) {
		switch r.URL.Query().Get("ticket") {
		case "busy":
			return channel.Session{}, &channel.ConnectError{Status: 503, Header: http.Header{"Retry-After": {"3"}}, Body: []byte("later")}
		case "panic":
			panic(http.ErrAbortHandler)
		}
		return h.connect(r)
	}
	upgrade := map[string]string{"Upgrade": "websocket", "Connection": "Upgrade",
		"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13"}
	tests := map[string]struct {
		method, query string
		header        map[string]string // changes; empty takes off
		status        int
		body          string
	}{
		"no ticket":       {query: "vsn=2.0.0", status: 403},
		"own refusal":     {query: "vsn=2.0.0&ticket=busy", status: 503, body: "later"},
		"vsn 9.0.0":       {query: "vsn=9.0.0&ticket=good", status: 403},
		"vsn 2":           {query: "vsn=2&ticket=good", status: 403},
		"vsn 2.1.0":       {query: "vsn=2.1.0&ticket=good", status: 403},
		"vsn empty":       {query: "vsn=&ticket=good", status: 403},
		"vsn absent":      {query: "ticket=good", status: 403},
		"foreign origin":  {query: "vsn=2.0.0&ticket=good", header: map[string]string{"Origin": "http://evil.example"}, status: 403},
		"broken origin":   {query: "vsn=2.0.0&ticket=good", header: map[string]string{"Origin": ":"}, status: 403},
		"POST":            {method: "POST", query: "vsn=2.0.0&ticket=good", status: 400, body: "not a WebSocket upgrade\n"},
		"no upgrade":      {query: "vsn=2.0.0&ticket=good", header: map[string]string{"Upgrade": ""}, status: 400, body: "not a WebSocket upgrade\n"},
		"no key":          {query: "vsn=2.0.0&ticket=good", header: map[string]string{"Sec-WebSocket-Key": ""}, status: 400, body: "not a WebSocket upgrade\n"},
		"another version": {query: "vsn=2.0.0&ticket=good", header: map[string]string{"Sec-WebSocket-Version": "8"}, status: 400, body: "not a WebSocket upgrade\n"},
	}
	base, _, _ := strings.Cut(h.URL, "?")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(testContext(t), tt.method, base+"?"+tt.query, nil)
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range upgrade {
				req.Header.Set(k, v)
			}
			for k, v := range tt.header {
				if v == "" {
					req.Header.Del(k)
				} else {
					req.Header.Set(k, v)
				}
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != tt.status || string(body) != tt.body {
				t.Errorf("answered %d %q, %v; want %d %q", resp.StatusCode, body, err, tt.status, tt.body)
			}
		})
	}
	h.dial(t, &channel.Dialer{Header: http.Header{"Origin": {"http://" + strings.Split(base, "/")[2]}}}, "good")
}

func TestBadFramesOfAClientEndItsSocketLikePhoenix(t *testing.T) {
	tests := map[string]struct {
		kind int
		data []byte
		code int
		want channel.EndReason
	}{
		"not JSON":       {websocket.TextMessage, []byte(`{not json`), 1011, channel.EndProtocolError},
		"object":         {websocket.TextMessage, []byte(`{"topic":"t"}`), 1011, channel.EndProtocolError},
		"four elements":  {websocket.TextMessage, []byte(`["1","2","t","e"]`), 1011, channel.EndProtocolError},
		"empty":          {websocket.TextMessage, nil, 1011, channel.EndProtocolError},
		"not UTF-8":      {websocket.TextMessage, []byte("\"\xff\""), 1007, channel.EndProtocolError},
		"binary rubbish": {websocket.BinaryMessage, []byte(`["1","2","t","e",{}]`), 1011, channel.EndProtocolError},
		"9 MiB":          {websocket.TextMessage, bytes.Repeat([]byte("x"), 9<<20), 1009, channel.EndReadLimit},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, nil)
			ws := h.rawClient(t, "t")
			say(t, ws, `["1","1","terminal:1","phx_join",{}]`)
			hear(t, ws)
			written := make(chan struct{})
			go func() { // large frames may meet a server that is already closing
				defer close(written)
				ws.WriteMessage(tt.kind, tt.data)
			}()
			_, _, err := ws.ReadMessage()
			var closed *websocket.CloseError
			if !errors.As(err, &closed) || closed.Code != tt.code {
				t.Errorf("client saw %v, want %d", err, tt.code)
			}
			<-written
			if got := endReason(t, next(t, h.closed, "Closed")); got != tt.want {
				t.Errorf("handler closed with %s, want %s", got, tt.want)
			}
		})
	}
}

func TestOddFramesOfAClientAreAnsweredLikePhoenix(t *testing.T) {
	h := newHub(t, nil)
	ws := h.rawClient(t, "t")
	for _, tt := range []struct{ send, want string }{
		{`["9","1","phoenix","heartbeat",{}]`, `[null,"1","phoenix","phx_reply",{"status":"ok","response":{}}]`},
		{`[null,2,"phoenix","heartbeat",null]`, `[null,2,"phoenix","phx_reply",{"status":"ok","response":{}}]`},
		{`[null,"2","phoenix","other",{}]`, `[null,"2","phoenix","phx_reply",{"status":"error","response":{"reason":"unmatched topic"}}]`},
		{`["1","2",null,"echo",{}]`, `[null,"2",null,"phx_reply",{"status":"error","response":{"reason":"unmatched topic"}}]`},
		{`["1","2",null,"phx_join",{}]`, `[null,"2",null,"phx_reply",{"status":"error","response":{"reason":"unmatched topic"}}]`},
		{`["5","6","terminal:1","phx_leave",{}]`, `["5","6","terminal:1","phx_reply",{"status":"ok","response":{}}]`},
		{`[1,1,"terminal:1","phx_join",null]`, `[1,1,"terminal:1","phx_reply",{"status":"ok","response":{"params":null,"topic":"terminal:1"}}]`},
		{`[1,2,"terminal:1","echo",[3],"a sixth"]`, `[1,2,"terminal:1","phx_reply",{"status":"ok","response":[3]}]`},
		{`[null,3,"terminal:1","echo",{}]`, `[1,3,"terminal:1","phx_reply",{"status":"ok","response":{}}]`},
		{`["",null,"terminal:1","echo",{}]`, `[1,null,"terminal:1","phx_reply",{"status":"ok","response":{}}]`},
		{`[77,4,"terminal:1","phx_leave",{}]`, ``}, // of another join: not a word
		{`[77,4,"terminal:1","echo",{}]`, ``},
		{`[2,5,"terminal:1","phx_join",{}]`, `[2,5,"terminal:1","phx_reply",{"status":"ok","response":{"params":{},"topic":"terminal:1"}}]`},
		{``, `[1,1,"terminal:1","phx_close",{}]`}, // after the new join's reply
		{`["","6","terminal:1","phx_leave",null]`, `[null,"6","terminal:1","phx_reply",{"status":"ok","response":{}}]`},
		{``, `[2,2,"terminal:1","phx_close",{}]`},
	} {
		if tt.send != "" {
			say(t, ws, tt.send)
		}
		if tt.want == "" {
			continue
		}
		if got := hear(t, ws); got != tt.want {
			t.Errorf("%s was answered %s, want %s", tt.send, got, tt.want)
		}
	}
}

func TestHundredAndFirstChannelIsRefused(t *testing.T) {
	h := newHub(t, nil)
	conn := h.dial(t, &channel.Dialer{}, "t")
	for i := range 100 {
		join(t, conn, "terminal:"+strings.Repeat("x", i+1))
	}
	_, _, err := conn.Join(testContext(t), "terminal:more", nil)
	var refused *channel.JoinError
	if !errors.As(err, &refused) || refused.Reason() != "too many channels joined" {
		t.Errorf("join ended with %v", err)
	}
}

func TestSlowReaderIsDisconnectedWithAReason(t *testing.T) {
	const limit = 1 << 20
	h := newHub(t, func(s *channel.Server) { s.QueueLimit = limit; s.WriteTimeout = patience })
	ws := h.rawClient(t, "t")
	say(t, ws, `["1","1","terminal:1","phx_join",{}]`)
	hear(t, ws)
	sc := next(t, h.joins, "join")
	payload := strings.Repeat("x", 64<<10)
	var pushed int
	var err error
	for pushed = 0; err == nil; pushed++ { // ends when the sockets' buffers and the queue are full
		err = sc.Push("exec_output", payload)
	}
	if !errors.Is(err, channel.ErrQueueFull) {
		t.Errorf("push ended with %v", err)
	}
	if got := endReason(t, next(t, h.closed, "Closed")); got != channel.EndSlowReader {
		t.Errorf("handler closed with %s", got)
	}
	if err := sc.Push("exec_output", nil); endReason(t, err) != channel.EndSlowReader {
		t.Errorf("push after it: %v", err)
	}
	for {
		_, _, err := ws.ReadMessage()
		if err == nil {
			continue // what was already under way
		}
		if !websocket.IsCloseError(err, websocket.ClosePolicyViolation) {
			t.Errorf("client saw %v", err)
		}
		return
	}
}

func TestForcedDisconnectClosesTheTransportWithoutAWord(t *testing.T) {
	h := newHub(t, nil)
	conn := h.dial(t, &channel.Dialer{}, "t")
	other := h.dial(t, &channel.Dialer{}, "other")
	ch := join(t, conn, "terminal:1")
	if n := h.Disconnect("socket:t"); n != 1 {
		t.Errorf("%d sockets disconnected", n)
	}
	gone(t, conn.Done(), "connection")
	var end *channel.EndError
	if !errors.As(conn.Err(), &end) || end.Reason != channel.EndClosedByServer || end.Code != 1001 {
		t.Errorf("client ended with %v", conn.Err())
	}
	gone(t, ch.Receive(), "channel")
	if !errors.As(ch.Err(), &end) {
		t.Errorf("channel ended with %v", ch.Err())
	}
	if got := endReason(t, next(t, h.closed, "Closed")); got != channel.EndDisconnected {
		t.Errorf("handler closed with %s", got)
	}
	if err := other.Sync(testContext(t)); err != nil {
		t.Errorf("another socket: %v", err)
	}
	if n := h.Disconnect("socket:t"); n != 0 {
		t.Errorf("%d sockets disconnected the second time", n)
	}
}

// Whoever is faster, the end or the handler's loop: a handler always hears why.
func TestEveryCutSocketTellsItsReason(t *testing.T) {
	h := newHub(t, nil)
	for i := range 200 {
		ticket := fmt.Sprint("t", i)
		join(t, h.dial(t, &channel.Dialer{}, ticket), "terminal:1")
		h.Disconnect("socket:" + ticket)
		if got := endReason(t, next(t, h.closed, "Closed")); got != channel.EndDisconnected {
			t.Fatalf("%d: handler closed with %s", i, got)
		}
	}
}

func TestShutdownClosesJoinedSocketsWithARestart(t *testing.T) {
	h := newHub(t, nil)
	joined, idle := h.dial(t, &channel.Dialer{}, "a"), h.dial(t, &channel.Dialer{}, "b")
	ch := join(t, joined, "terminal:1")
	if err := ch.Push(testContext(t), "exec_result", nil); err != nil {
		t.Fatal(err)
	}
	if err := joined.Sync(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if err := h.Shutdown(testContext(t)); err != nil {
		t.Fatal(err)
	}
	next(t, h.handled, "message that was read before")
	for conn, code := range map[*channel.Conn]int{joined: 1012, idle: 1000} {
		gone(t, conn.Done(), "connection")
		var end *channel.EndError
		if !errors.As(conn.Err(), &end) || end.Code != code {
			t.Errorf("ended with %v, want %d", conn.Err(), code)
		}
	}
	if got := endReason(t, next(t, h.closed, "Closed")); got != channel.EndShutdown {
		t.Errorf("handler closed with %s", got)
	}
	_, err := (&channel.Dialer{}).Dial(testContext(t), h.URL+"c")
	var refused *channel.RefusedError
	if !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable {
		t.Errorf("a dial during the shutdown: %v", err)
	}
}

func TestShutdownGivesUpOnItsContextAndCutsHandlers(t *testing.T) {
	h := newHub(t, nil)
	ch := join(t, h.dial(t, &channel.Dialer{}, "t"), "terminal:1")
	if err := ch.Push(testContext(t), "wait", nil); err != nil { // a handler that waits for its context
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := h.Shutdown(ctx); !errors.Is(err, context.Canceled) && err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if err := h.Shutdown(testContext(t)); err != nil {
		t.Errorf("second shutdown: %v", err)
	}
	next(t, h.closed, "Closed")
}

func TestWhatWasReadBeforeAHangUpIsStillHandled(t *testing.T) {
	h := newHub(t, nil)
	conn := h.dial(t, &channel.Dialer{}, "t")
	ch := join(t, conn, "terminal:1")
	for range 50 {
		if err := ch.Push(testContext(t), "exec_result", nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Sync(testContext(t)); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	for range 50 {
		next(t, h.handled, "result")
	}
	if got := endReason(t, next(t, h.closed, "Closed")); got != channel.EndClosedByClient {
		t.Errorf("handler closed with %s", got)
	}
}

func TestSilentClientIsEndedAfterTheIdleTimeout(t *testing.T) {
	h := newHub(t, func(s *channel.Server) { s.IdleTimeout = 50 * time.Millisecond })
	ws := h.rawClient(t, "t")
	say(t, ws, `["1","1","terminal:1","phx_join",{}]`)
	hear(t, ws)
	if _, _, err := ws.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseProtocolError) {
		t.Errorf("client saw %v", err)
	}
	if got := endReason(t, next(t, h.closed, "Closed")); got != channel.EndIdle {
		t.Errorf("handler closed with %s", got)
	}
}
