package channel

import (
	"log/slog"
	"time"

	"github.com/gorilla/websocket"
)

// writeChunk is how much of a message one write deadline covers: a large result
// on a slow line may take long as long as it moves.
const writeChunk = 64 << 10

// closeGrace is how long an end that is said politely may take.
const closeGrace = time.Second

// outgoing is an encoded message.
type outgoing struct {
	kind int // websocket.TextMessage or BinaryMessage
	data []byte
}

// writeMessage writes one message. Each writeChunk of it has to be taken by the
// network within timeout. Only one call at a time is allowed on a connection.
func writeMessage(ws *websocket.Conn, m outgoing, timeout time.Duration) error {
	if err := ws.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	if len(m.data) <= writeChunk {
		return ws.WriteMessage(m.kind, m.data)
	}
	w, err := ws.NextWriter(m.kind)
	if err != nil {
		return err
	}
	for rest := m.data; len(rest) > 0; {
		n := min(len(rest), writeChunk)
		if err := ws.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
			return err
		}
		if _, err := w.Write(rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return w.Close()
}

// sayClose sends a close frame if the connection still takes one within
// closeGrace. That it does not is no news: the connection is being given up.
func sayClose(ws *websocket.Conn, code int, text string) {
	_ = ws.WriteControl(websocket.CloseMessage,
		websocket.FormatCloseMessage(code, text), time.Now().Add(closeGrace))
}

func orDiscard(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}
