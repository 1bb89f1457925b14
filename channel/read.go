package channel

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"

	"github.com/gorilla/websocket"
)

// decode reads a message in either kind of frame.
func decode(kind int, data []byte, from direction) (Message, error) {
	if kind == websocket.BinaryMessage {
		return decodeBinary(data, from)
	}
	return decodeText(data)
}

// readMessage reads one message; alive is called before each wait for data, so
// that a large message on a slow line is not taken for silence.
func readMessage(ws *websocket.Conn, alive func() error) (int, []byte, error) {
	if err := alive(); err != nil {
		return 0, nil, err
	}
	kind, r, err := ws.NextReader()
	if err != nil {
		return 0, nil, err
	}
	var b bytes.Buffer
	for {
		if err := alive(); err != nil {
			return 0, nil, err
		}
		_, err := io.CopyN(&b, r, writeChunk)
		if errors.Is(err, io.EOF) {
			return kind, b.Bytes(), nil
		}
		if err != nil {
			return 0, nil, err
		}
	}
}

// endOf names what a failed read means. closed is the reason where the peer
// sent a close frame.
func endOf(err error, closed EndReason) *EndError {
	var ce *websocket.CloseError
	switch {
	case errors.As(err, &ce) && ce.Code == websocket.CloseNoStatusReceived:
		return &EndError{Reason: closed}
	case errors.As(err, &ce) && ce.Code != websocket.CloseAbnormalClosure:
		return &EndError{Reason: closed, Code: ce.Code, Text: ce.Text}
	case errors.Is(err, websocket.ErrReadLimit):
		return &EndError{Reason: EndReadLimit, Err: err}
	case isNetwork(err):
		return &EndError{Reason: EndNetwork, Err: err}
	}
	return &EndError{Reason: EndProtocolError, Err: err}
}

// isNetwork tells a broken connection from a broken frame, whose errors the
// WebSocket library does not type.
func isNetwork(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe) ||
		websocket.IsCloseError(err, websocket.CloseAbnormalClosure)
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &ne) && ne.Timeout()
}
