package channel_test

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"brabo.dev/runner/channel"
)

// player is one connection of a replayed transcript, both of its ends.
type player struct {
	t        *testing.T
	conn     *channel.Conn
	dialErr  error
	peer     *peer
	actions  []*action
	channels map[string]*channel.Channel // the newest of each topic
	received []*receiver
	stop     context.Context // ends what nobody will answer any more
	giveUp   context.CancelFunc
	state    string
}

// action is something that the client was told to do.
type action struct {
	label  string
	result string        // valid when done is closed
	done   chan struct{} // closed when the client's method returned
	ref    string        // of a join
	cancel context.CancelFunc
}

// receiver collects what one channel received.
type receiver struct {
	ch    *channel.Channel
	lines []string      // valid when done is closed
	done  chan struct{} // closed when the channel has ended
}

func newPlayer(t *testing.T) *player {
	stop, giveUp := context.WithCancel(testContext(t))
	return &player{t: t, channels: map[string]*channel.Channel{}, stop: stop, giveUp: giveUp}
}

// recorded is a message of the recorded client.
type recorded struct {
	joinRef, ref, topic, event string
	payload                    any
}

var sizeNote = regexp.MustCompile(`(\d+) bytes`)

// parse reads a recorded client message; ok is false for what isn't one.
func parse(text string, data stepData) (m recorded, ok bool) {
	switch {
	case data.BinaryHex != "":
		b, _ := hex.DecodeString(data.BinaryHex)
		if len(b) < 5 || b[0] != 0 {
			return m, false
		}
		field := func(size byte, at int) string { return string(b[at : at+int(size)]) }
		at := 5
		for i, into := range []*string{&m.joinRef, &m.ref, &m.topic, &m.event} {
			*into = field(b[1+i], at)
			at += int(b[1+i])
		}
		m.payload = channel.Binary(b[at:])
		return m, true
	case data.Note != "": // too long to be recorded: one as large
		size, _ := strconv.Atoi(sizeNote.FindStringSubmatch(data.Note)[1])
		if strings.Contains(data.Note, "two fragments") {
			size *= 2
		}
		padding := max(0, size-len(`["1","2","terminal:1","exec_result",{"d":""}]`))
		return recorded{"1", "2", "terminal:1", "exec_result", map[string]string{"d": strings.Repeat("x", padding)}}, true
	case data.Fragments != nil:
		text = strings.Join(data.Fragments, "")
	case data.Inflated != "":
		text = data.Inflated
	}
	var parts []json.RawMessage
	if json.Unmarshal([]byte(text), &parts) != nil || len(parts) < 5 {
		return m, false
	}
	plain := func(raw json.RawMessage) string { return strings.Trim(strings.TrimPrefix(string(raw), "null"), `"`) }
	return recorded{plain(parts[0]), plain(parts[1]), plain(parts[2]), plain(parts[3]), parts[4]}, true
}

// client makes the client do what the recorded one did, where it can.
func (p *player) client(text string, data stepData) {
	m, ok := parse(text, data)
	if !ok {
		return
	}
	ch := p.channels[m.topic]
	label := m.event + " " + m.topic
	joining := m.event == "phx_leave" && p.joining(m.joinRef) != nil
	if m.event != "heartbeat" && m.event != "phx_join" && !joining &&
		(ch == nil || m.event == "phx_leave" && !p.current(ch, m.joinRef)) {
		return
	}
	if n, err := strconv.ParseUint(m.ref, 10, 64); err == nil {
		p.conn.SetLastRef(n - 1)
	}
	switch {
	case m.event == "heartbeat":
		p.do("heartbeat", func(ctx context.Context) (any, error) { return "answered", p.conn.Sync(ctx) })
	case m.event == "phx_join":
		a := p.do(label, func(ctx context.Context) (any, error) { return p.join(ctx, m) })
		a.ref = m.ref
	case joining:
		p.joining(m.joinRef).cancel() // what a client does that gave up waiting
		p.expect(nil)
		return
	case m.event == "phx_leave":
		p.do(label, func(ctx context.Context) (any, error) { return "left", ch.Leave(ctx) })
	default:
		p.do(label, func(ctx context.Context) (any, error) { return p.call(ctx, ch, m) })
	}
	p.check(m)
}

func (p *player) join(ctx context.Context, m recorded) (any, error) {
	ch, response, err := p.conn.Join(ctx, m.topic, m.payload)
	if err != nil {
		return nil, err
	}
	p.channels[m.topic] = ch // its reply is waited for before the next step
	r := &receiver{ch: ch, done: make(chan struct{})}
	p.received = append(p.received, r)
	go func() {
		defer close(r.done)
		for m := range ch.Receive() {
			line := m.Event + " " + string(m.Payload)
			if m.Binary != nil {
				line = m.Event + " " + hex.EncodeToString(m.Binary)
			}
			r.lines = append(r.lines, line)
		}
	}()
	return response, nil
}

func (p *player) call(ctx context.Context, ch *channel.Channel, m recorded) (any, error) {
	response, err := ch.Call(ctx, m.event, m.payload)
	if errors.Is(err, channel.ErrBinaryReply) {
		return "a binary reply", nil
	}
	return response, err
}

// do starts an action. Its order among the others is kept by check, which waits
// for its frame.
func (p *player) do(label string, f func(ctx context.Context) (any, error)) *action {
	ctx, cancel := context.WithCancel(p.stop)
	a := &action{label: label, done: make(chan struct{}), cancel: cancel}
	p.actions = append(p.actions, a)
	go func() {
		defer close(a.done)
		defer cancel()
		value, err := f(ctx)
		switch v := value.(type) {
		case string:
			a.result = v
		case json.RawMessage:
			a.result = "ok " + string(v)
		}
		if err != nil {
			a.result = describe(err)
		}
	}()
	return a
}

// joining is the join with that ref while it is not answered.
func (p *player) joining(ref string) *action {
	for _, a := range p.actions {
		if a.ref != "" && a.ref == ref {
			select {
			case <-a.done:
			default:
				return a
			}
		}
	}
	return nil
}

// current reports whether a recorded join_ref is the one that ch was joined
// with, the only one that this client can send.
func (p *player) current(ch *channel.Channel, joinRef string) bool {
	return ch.JoinRef() == joinRef
}

// check takes the frame of the newest action off the wire and compares it with
// the recorded one. An action that was refused on the spot sends none.
func (p *player) check(m recorded) {
	got, sent := p.expect(p.actions[len(p.actions)-1])
	if !sent {
		return
	}
	if data, ok := m.payload.(channel.Binary); ok {
		if !strings.HasSuffix(string(got.data), m.topic+m.event+string(data)) {
			p.t.Errorf("sent %x for %v", got.data, m)
		}
		return
	}
	frame, ok := parse(string(got.data), stepData{})
	if !ok {
		p.t.Fatalf("sent %.200q", got.data)
	}
	want, err := json.Marshal(m.payload)
	if err != nil {
		p.t.Fatal(err)
	}
	have, err := json.Marshal(frame.payload)
	if err != nil {
		p.t.Fatal(err)
	}
	sameRefs := m.ref == "" || frame.ref == m.ref
	if ch := p.channels[m.topic]; ch != nil && p.current(ch, m.joinRef) || m.event == "phx_join" {
		sameRefs = sameRefs && frame.joinRef == m.joinRef
	}
	if !sameRefs || frame.topic != m.topic || frame.event != m.event || string(have) != string(want) {
		p.t.Errorf("sent %.200s for %.200v", got.data, m)
	}
}

// expect waits for a message of the client, or, where a is given, for its end.
func (p *player) expect(a *action) (m wireMessage, sent bool) {
	var refused chan struct{}
	if a != nil {
		refused = a.done
	}
	for {
		select {
		case m, ok := <-p.peer.messages:
			if !ok {
				return m, false
			}
			if m.opcode == opPong {
				continue
			}
			return m, true
		case <-refused:
			return m, false
		case <-p.stop.Done():
			p.t.Fatal("the client sent nothing")
		}
	}
}

// server sends what the server sent.
func (p *player) server(text string, data stepData) {
	switch {
	case data.RSV1:
		p.peer.frame(0x80|0x40|opText, unhex(p.t, data.Hex))
	case data.BinaryHex != "":
		p.peer.frame(0x80|opBinary, unhex(p.t, data.BinaryHex))
	case data.PongHex != "":
		p.peer.frame(0x80|opPong, unhex(p.t, data.PongHex))
	case text != "":
		m, _ := parse(text, stepData{})
		waiting := p.joining(m.ref)
		p.peer.text(text)
		if waiting != nil && m.event == "phx_reply" {
			<-waiting.done
		}
		if m.event == "phx_close" || m.event == "phx_error" {
			p.ended(m.joinRef)
		}
	}
}

// ended waits until the client knows that the channel of that join has ended.
func (p *player) ended(joinRef string) {
	for _, r := range p.received {
		if r.ch.JoinRef() == joinRef {
			<-r.done
		}
	}
}

// end plays a close frame or the end of the TCP connection.
func (p *player) end(data stepData) {
	switch {
	case data.From == "server":
		p.peer.closeSent = true
		p.peer.Write(unhex(p.t, data.FrameHex))
	case data.Reply:
		if !p.peer.closeSent {
			p.peer.close(*data.Code)
		}
		for {
			m, ok := p.expect(nil)
			if !ok {
				p.t.Error("the client did not answer the close frame")
				return
			}
			if m.opcode == opClose {
				// After a protocol error of its own the client has sent another code.
				if got := binary.BigEndian.Uint16(m.data); got != *data.Code && p.conn.Err() == nil {
					p.t.Errorf("the client answered %d with %d", *data.Code, got)
				}
				return
			}
		}
	case data.From == "client":
		p.closeClient()
	case data.TCP != "" && data.TCP != "open", data.CodeSeen != 0:
		p.peer.closeSent = true
		p.peer.Close()
	}
}

// closeClient closes the client, and waits for its close frame.
func (p *player) closeClient() {
	p.do("close", func(context.Context) (any, error) { return "closed", p.conn.Close() })
	if m, ok := p.expect(nil); !ok || m.opcode != opClose {
		p.t.Errorf("closing sent %v", m)
	}
}

func unhex(t *testing.T, s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
