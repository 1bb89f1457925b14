package channel_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"brabo.dev/runner/channel"
)

// BenchmarkRoundTrip compares a Call that is echoed with the same bytes echoed
// by the bare WebSocket library: floor-ratio is ours divided by its.
func BenchmarkRoundTrip(b *testing.B) {
	h := newHub(b, nil)
	ch := join(b, h.dial(b, &channel.Dialer{}, "t"), "terminal:1")
	payload := map[string]string{"ref": "b0f2", "output": "README.md\n"}
	floor := bareRoundTrip(b)
	start := time.Now()
	for b.Loop() {
		if _, err := ch.Call(b.Context(), "echo", payload); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(time.Since(start))/float64(b.N)/float64(floor), "floor-ratio")
}

// bareRoundTrip is the time of one echo without Phoenix around it.
func bareRoundTrip(b *testing.B) time.Duration {
	var upgrader websocket.Upgrader
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer ws.Close()
		for {
			kind, data, err := ws.ReadMessage()
			if err != nil || ws.WriteMessage(kind, data) != nil {
				return
			}
		}
	}))
	defer ts.Close()
	ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(ts.URL, "http"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer ws.Close()
	message := []byte(`["1","2","terminal:1","echo",{"output":"README.md\n","ref":"b0f2"}]`)
	const n = 5000
	start := time.Now()
	for range n {
		if err := ws.WriteMessage(websocket.TextMessage, message); err != nil {
			b.Fatal(err)
		}
		if _, _, err := ws.ReadMessage(); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start) / n
}

// BenchmarkIdleConnections reports what one joined connection costs, both of its
// ends together.
func BenchmarkIdleConnections(b *testing.B) {
	const n = 1000
	h := newHub(b, nil)
	memory := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	for b.Loop() {
		before, goroutines := memory(), runtime.NumGoroutine()
		conns := make([]*channel.Conn, n)
		for i := range conns {
			conn, err := (&channel.Dialer{}).Dial(b.Context(), h.URL+fmt.Sprint(i, "-", time.Now().UnixNano()))
			if err != nil {
				b.Fatal(err)
			}
			join(b, conn, "terminal:1")
			conns[i] = conn
		}
		b.ReportMetric(float64(memory()-before)/n/1024, "KiB/conn")
		b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/n, "goroutines/conn")
		for _, conn := range conns {
			conn.Close()
		}
	}
}
