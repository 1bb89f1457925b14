package hub

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	screenFrames = 64 // that wait for a person's side, of up to 64 KiB each
	// screenPatience is how long a runner's messages wait in all for a person's side that is behind. Output that finds no
	// place is dropped from then on, until it has caught up: it must not delay what else the runner has to say.
	screenPatience = time.Second
)

// screen is the person's side of a terminal. What comes from the runner's channel comes in order, from one goroutine.
type screen struct {
	ref    string
	frames chan frame
	ending chan struct{} // closed once last is known

	may      func() bool   // whether who opened it still may; not called under a lock
	patience time.Duration // of the channel's goroutine: what is left
	lost     int64         // of the channel's goroutine: bytes that found no place

	mu     sync.Mutex // guards what follows
	ended  bool
	remote bool // it ended at the runner
	last   TerminalNews
	shown  int64 // bytes; read when show has returned
}

type frame struct {
	kind int // of a WebSocket message
	data []byte
}

func newScreen(ref string) *screen {
	return &screen{ref: ref, frames: make(chan frame, screenFrames), ending: make(chan struct{}), patience: screenPatience}
}

// put has output shown. It waits a little for a person's side that is behind, and drops what finds no place.
func (s *screen) put(data []byte) {
	shown := data
	if s.lost > 0 {
		shown = append(fmt.Appendf(nil, "\r\n[%d bytes were not shown]\r\n", s.lost), data...)
	}
	if s.send(frame{websocket.BinaryMessage, shown}) {
		s.lost = 0
		return
	}
	s.lost += int64(len(data))
}

// tell has news told.
func (s *screen) tell(n TerminalNews) { s.send(newsFrame(n)) }

func newsFrame(n TerminalNews) frame {
	raw, err := json.Marshal(n)
	if err != nil { // a failure's texts are plain
		raw = []byte("{}")
	}
	return frame{websocket.TextMessage, raw}
}

func (s *screen) send(f frame) bool {
	select {
	case s.frames <- f:
		if len(s.frames) <= 1 { // it has caught up, or waits for what comes
			s.patience = screenPatience
		}
		return true
	default:
	}
	if s.patience <= 0 {
		return false
	}
	began := time.Now()
	over := time.NewTimer(s.patience)
	defer over.Stop()
	select {
	case s.frames <- f:
		s.patience -= time.Since(began)
		return true
	case <-s.ending:
	case <-over.C:
		s.patience = 0
	}
	return false
}

// there ends the screen because its terminal has ended at the runner.
func (s *screen) there(n TerminalNews) {
	s.mu.Lock()
	s.remote = true
	s.mu.Unlock()
	s.end(n)
}

func (s *screen) endedThere() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.remote
}

// end has the last word told behind what waits. Only the first one counts.
func (s *screen) end(n TerminalNews) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.ended, s.last = true, n
	close(s.ending)
}

// untilClosing returns when the person's side has to be closed: it is over, the hub stops, or the screen has ended and the other
// side, which may not even read, has had its time to hear the last word.
func (s *screen) untilClosing(stop, over <-chan struct{}) {
	select {
	case <-stop:
		return
	case <-over:
		return
	case <-s.ending:
	}
	late := time.NewTimer(2 * goodbye)
	defer late.Stop()
	select {
	case <-stop:
	case <-over:
	case <-late.C:
	}
}

func (s *screen) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// lastWord is what ended the screen; nothing where the person left it, or it has not ended.
func (s *screen) lastWord() TerminalNews {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// show writes what comes until the end, and the last word. Closing ws ends it at any time.
func (s *screen) show(ws *websocket.Conn) {
	for {
		select {
		case f := <-s.frames:
			if !s.write(ws, f) {
				return
			}
		case <-s.ending:
			for {
				select {
				case f := <-s.frames:
					if !s.write(ws, f) {
						return
					}
					continue
				default:
				}
				break
			}
			last := s.lastWord()
			if last == (TerminalNews{}) || !s.write(ws, newsFrame(last)) {
				return
			}
			// The other side closes: what it has sent meanwhile must not cost it what it has not read yet.
			_ = ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(goodbye))
			_ = ws.NetConn().SetReadDeadline(time.Now().Add(goodbye))
			return
		}
	}
}

// write sends one message; an error is the end of the person's side, which its reader notices too.
func (s *screen) write(ws *websocket.Conn, f frame) bool {
	if err := ws.WriteMessage(f.kind, f.data); err != nil {
		ws.Close()
		return false
	}
	if f.kind == websocket.BinaryMessage {
		s.shown += int64(len(f.data))
	}
	return true
}
