package channel_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/channel"
)

// stepData is the data of those steps that are objects.
type stepData struct {
	From, Line, Body, Error string
	Headers                 map[string]string
	Status                  int
	BinaryHex               string `json:"binary_hex"`
	PongHex                 string `json:"pong_hex"`
	FrameHex                string `json:"frame_hex"`
	RSV1                    bool
	Hex, Inflated, Note     string
	Fragments               []string
	Code                    *uint16
	CodeSeen                uint16 `json:"code_seen"`
	Reply                   bool
	TCP                     string
}

// replayer plays one transcript: it is the server, and it makes the client do
// what the recorded client did.
type replayer struct {
	t       *testing.T
	ln      net.Listener
	request stepData        // the upgrade request that the next answer is for
	players map[int]*player // the open connection of each of the step's sockets
	all     []*player
}

// replay returns the outcome: a line for each thing that the client did or saw.
func replay(t *testing.T, c transcript) string {
	r := &replayer{t: t, ln: loopback(t), players: map[int]*player{}}
	for _, s := range c.Steps {
		var data stepData
		var text string
		if json.Unmarshal(s.Data, &text) != nil {
			if err := json.Unmarshal(s.Data, &data); err != nil {
				t.Fatalf("step %s: %v", s.Data, err)
			}
		}
		r.play(s, text, data)
	}
	var out strings.Builder
	for i, p := range r.all {
		if i > 0 && r.repeats(i) {
			continue
		}
		p.settle()
		for _, line := range p.outcome() {
			out.WriteString("\t" + line + "\n")
		}
	}
	return out.String()
}

// repeats reports whether a dial ended like the one before it.
func (r *replayer) repeats(i int) bool {
	a, b := r.all[i-1].dialErr, r.all[i].dialErr
	return a != nil && b != nil && describe(a) == describe(b)
}

func (r *replayer) play(s step, text string, data stepData) {
	if s.Dir == "http" {
		if data.From == "client" {
			r.request = data
		} else {
			r.dial(s.Socket, data)
		}
		return
	}
	if len(r.all) == 0 && s.Dir == "client" { // a transcript shown from its middle
		r.request = stepData{Line: "GET /runner/websocket?ticket=t&vsn=2.0.0"}
		r.dial(s.Socket, stepData{Status: http.StatusSwitchingProtocols})
	}
	p := r.players[s.Socket]
	if p == nil {
		return // what happened on a connection that this client refused
	}
	switch s.Dir {
	case "client":
		p.client(text, data)
	case "server":
		p.server(text, data)
	case "close":
		p.end(data)
	case "control":
		if text == "client ends TCP without a close frame" {
			p.closeClient()
			p.peer.Close()
		}
	}
}

// dial lets the client connect and answers as the server did.
func (r *replayer) dial(n int, answer stepData) {
	p := newPlayer(r.t)
	r.all = append(r.all, p)
	_, path, _ := strings.Cut(r.request.Line, " ")
	path = strings.TrimSuffix(path, " HTTP/1.1")
	addr := r.ln.Addr().String()
	if answer.Error != "" {
		closed := loopback(r.t)
		addr = closed.Addr().String()
		closed.Close()
	}
	// Heartbeats are those of the transcript, however slow the machine is.
	d := &channel.Dialer{Header: http.Header{}, Heartbeat: time.Hour, HeartbeatGrace: time.Hour}
	for _, name := range []string{"origin", "sec-websocket-protocol"} {
		if v, ok := r.request.Headers[name]; ok {
			d.Header.Set(name, v)
		}
	}
	dialled := make(chan struct{})
	go func() {
		defer close(dialled)
		p.conn, p.dialErr = d.Dial(testContext(r.t), "http://"+addr+path)
	}()
	if answer.Error == "" {
		p.peer = acceptPeer(r.t, r.ln)
		r.checkRequest(p.peer.request, path)
		r.answer(p.peer, answer)
	}
	<-dialled
	if p.dialErr != nil {
		r.players[n] = nil
		return
	}
	r.t.Cleanup(func() { p.conn.Close() })
	r.players[n] = p
	go p.peer.listen()
}

// checkRequest compares the request with the recorded one: the path, the query
// with vsn added where the recording has none, and no Origin of its own accord.
func (r *replayer) checkRequest(got *http.Request, path string) {
	want, err := url.Parse(path)
	if err != nil {
		r.t.Fatal(err)
	}
	query := want.Query()
	if !query.Has("vsn") {
		query.Set("vsn", "2.0.0")
	}
	if got.URL.Path != want.Path || got.URL.Query().Encode() != query.Encode() {
		r.t.Errorf("requested %s, want %s", got.URL, path)
	}
	if got.Header.Get("Origin") != r.request.Headers["origin"] {
		r.t.Errorf("sent the Origin %q", got.Header.Get("Origin"))
	}
}

func (r *replayer) answer(p *peer, answer stepData) {
	var lines strings.Builder
	for name, value := range answer.Headers {
		switch name {
		case "upgrade", "connection", "sec-websocket-accept", "date", "x-request-id":
		default:
			fmt.Fprintf(&lines, "%s: %s\r\n", name, value)
		}
	}
	if answer.Status == http.StatusSwitchingProtocols {
		p.upgrade(lines.String())
		return
	}
	if answer.Headers == nil {
		lines.WriteString("content-length: 0\r\n")
	}
	fmt.Fprintf(p, "HTTP/1.1 %d %s\r\n%s\r\n%s", answer.Status, http.StatusText(answer.Status), lines.String(), answer.Body)
}
