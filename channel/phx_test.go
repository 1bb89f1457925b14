package channel_test

import (
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/nshafer/phx"
)

// phxEndpoint makes the test binary an independent Go client instead. It runs in
// a process of its own, because it can panic and leaves goroutines behind.
const phxEndpoint = "CHANNEL_TEST_PHX"

// phxClient talks to the server and prints what happens. It never returns.
func phxClient(endpoint string) {
	var printing sync.Mutex
	say := func(step string, detail any) {
		printing.Lock()
		defer printing.Unlock()
		json.NewEncoder(os.Stdout).Encode(map[string]any{"step": step, "detail": detail})
	}
	must := func(err error) {
		if err != nil {
			say("failed", err.Error())
			os.Exit(1)
		}
	}
	u, err := url.Parse(endpoint)
	must(err)
	socket := phx.NewSocket(u)
	transport := phx.NewWebsocket(socket)
	transport.Dialer = &websocket.Dialer{}
	socket.Transport = transport
	opened := make(chan struct{}, 16)
	messages := make(chan phx.Message, 256)
	socket.OnOpen(func() { opened <- struct{}{} })
	socket.OnMessage(func(m phx.Message) { messages <- m })
	socket.OnError(func(err error) { say("error", err.Error()) })

	if strings.Contains(endpoint, "restart") { // only its channels rejoin
		ch := socket.Channel("terminal:phx", nil)
		ch.OnJoin(func(any) { say("joined", nil) })
		must(socket.Connect())
		<-opened
		_, err := ch.Join()
		must(err)
		select {}
	}

	// wait takes messages up to the one that fits; callbacks may come in any order.
	wait := func(fits func(phx.Message) bool) any {
		for m := range messages {
			if fits(m) {
				return m.Payload
			}
		}
		return nil
	}
	reply := func(ref phx.Ref) any {
		return wait(func(m phx.Message) bool { return m.Event == "phx_reply" && m.Ref == ref })
	}
	joinTopic := func(topic string) (phx.Ref, any) {
		ref := socket.MakeRef()
		must(socket.PushMessage(phx.Message{JoinRef: ref, Ref: ref, Topic: topic, Event: "phx_join",
			Payload: map[string]any{"capacidades": []string{"exec"}}}))
		return ref, reply(ref)
	}
	push := func(topic, event string, payload any, joinRef phx.Ref) any {
		ref, err := socket.Push(topic, event, payload, joinRef)
		must(err)
		return reply(ref)
	}
	must(socket.Connect())
	<-opened
	joinRef, response := joinTopic("terminal:phx")
	say("joined", response)
	_, response = joinTopic("terminal:refuse")
	say("refused", response)
	say("reply", push("terminal:phx", "echo", map[string]string{"text": "é"}, joinRef))
	_, err = socket.Push("terminal:phx", "push_then_reply", map[string]string{"id": "c1"}, joinRef)
	must(err)
	say("pushed", wait(func(m phx.Message) bool { return m.Event == "exec" }))
	_, err = socket.Push("terminal:phx", "phx_leave", nil, joinRef)
	must(err)
	say("left", wait(func(m phx.Message) bool { return m.Event == "phx_close" && m.JoinRef == joinRef }))
	joinTopic("terminal:phx")
	say("ready", nil)
	select {}
}

// startPhx runs the client against the hub until the end of the test.
func startPhx(t *testing.T, h *hub, ticket string) <-chan judged {
	t.Helper()
	endpoint, _, _ := strings.Cut("ws"+strings.TrimPrefix(h.URL, "http"), "/websocket")
	client := exec.Command(os.Args[0])
	client.Env = append(os.Environ(), phxEndpoint+"="+endpoint+"?ticket="+ticket, "GORACE=exitcode=0")
	out, err := client.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	lines := judgeLines(t, out)
	t.Cleanup(func() {
		client.Process.Kill()
		for range lines {
		}
		client.Wait()
	})
	return lines
}

func TestIndependentGoClientIsServed(t *testing.T) {
	h := newHub(t, nil)
	lines := startPhx(t, h, "phx")
	expect(t, lines, "joined", `{"response":{"params":{"capacidades":["exec"]},"topic":"terminal:phx"},"status":"ok"}`)
	expect(t, lines, "refused", `{"response":{"reason":"unauthorized"},"status":"error"}`)
	expect(t, lines, "reply", `{"response":{"text":"é"},"status":"ok"}`)
	expect(t, lines, "pushed", `{"id":"c1"}`)
	expect(t, lines, "left", `{}`)
	expect(t, lines, "ready", `null`)
	if n := h.Disconnect("socket:phx"); n != 1 {
		t.Errorf("%d sockets disconnected", n)
	}
	expect(t, lines, "error", `"websocket: close 1001 (going away)"`)
	expect(t, lines, "error", `"websocket: bad handshake"`) // it redials its spent ticket
}

func TestIndependentGoClientRejoinsAfterARestart(t *testing.T) {
	h := newHub(t, nil)
	lines := startPhx(t, h, "restart")
	expect(t, lines, "joined", `null`)
	h.restart(t)
	expect(t, lines, "joined", `null`)
}
