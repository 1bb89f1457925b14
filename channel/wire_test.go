package channel_test

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// peer is the server's end of one TCP connection, in bytes: it writes frames
// that no library would and reads what the client sends.
type peer struct {
	net.Conn
	r         *bufio.Reader
	request   *http.Request
	messages  chan wireMessage // closed when the client's side has ended
	closeSent bool
}

type wireMessage struct {
	opcode byte
	data   []byte
}

const (
	opText   = 1
	opBinary = 2
	opClose  = 8
	opPong   = 10
)

// acceptPeer takes a connection and its request.
func acceptPeer(t testing.TB, ln net.Listener) *peer {
	t.Helper()
	conn, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(patience))
	return newPeer(t, conn)
}

func newPeer(t testing.TB, conn net.Conn) *peer {
	t.Helper()
	p := &peer{Conn: conn, r: bufio.NewReader(conn), messages: make(chan wireMessage, 64)}
	var err error
	if p.request, err = http.ReadRequest(p.r); err != nil {
		t.Fatal(err)
	}
	return p
}

func noProxy(*http.Request) (*url.URL, error) { return nil, nil }

// upgrade answers 101 with the given further header lines.
func (p *peer) upgrade(lines string) {
	sum := sha1.Sum([]byte(p.request.Header.Get("Sec-Websocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	fmt.Fprintf(p, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Accept: %s\r\n%s\r\n", base64.StdEncoding.EncodeToString(sum[:]), lines)
}

// listen reads the client's messages, put together, until its side ends.
func (p *peer) listen() {
	defer close(p.messages)
	var whole wireMessage
	for {
		head := make([]byte, 2)
		if _, err := io.ReadFull(p.r, head); err != nil {
			return
		}
		size := uint64(head[1] & 0x7f)
		if extended := map[uint64]int{126: 2, 127: 8}[size]; extended != 0 {
			b := make([]byte, 8)
			if _, err := io.ReadFull(p.r, b[8-extended:]); err != nil {
				return
			}
			size = binary.BigEndian.Uint64(b)
		}
		body := make([]byte, 4+size)
		if _, err := io.ReadFull(p.r, body); err != nil {
			return
		}
		mask, data := body[:4], body[4:]
		subtle.XORBytes(data, data, bytes.Repeat(mask, len(data)/4+1))
		if op := head[0] & 0x0f; op >= opClose {
			p.messages <- wireMessage{op, data}
			continue
		} else if op != 0 {
			whole = wireMessage{opcode: op}
		}
		whole.data = append(whole.data, data...)
		if head[0]&0x80 != 0 {
			p.messages <- whole
		}
	}
}

// frame writes one unmasked frame. An error means that the client is gone,
// which the test sees by other means.
func (p *peer) frame(head byte, data []byte) {
	b := []byte{head}
	switch n := len(data); {
	case n < 126:
		b = append(b, byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	}
	p.Write(append(b, data...))
}

func (p *peer) text(s string) { p.frame(0x80|opText, []byte(s)) }

func (p *peer) close(code uint16) {
	p.closeSent = true
	p.frame(0x80|opClose, binary.BigEndian.AppendUint16(nil, code))
}

// loopback is a listener that ends with the test.
func loopback(t testing.TB) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln
}
