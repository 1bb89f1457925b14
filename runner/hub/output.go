package hub

import (
	"brabo.dev/runner/runner/action"
)

// maxTail is how many bytes of a running command's output are kept to be looked at.
const maxTail = 1 << 20

// tail is the last part of a running command's output. The zero value is empty.
type tail struct {
	begin int64 // how many bytes came before data
	data  []byte
}

func (t *tail) end() int64 { return t.begin + int64(len(t.data)) }

// add appends a piece that begins at offset. A gap drops what stood before it; what is known already is not added.
func (t *tail) add(offset int64, data []byte) {
	switch {
	case offset < 0 || offset+int64(len(data)) <= t.end():
		return
	case offset > t.end():
		t.begin, t.data = offset, nil
	default:
		data = data[t.end()-offset:]
	}
	t.data = append(t.data, data...)
	if over := len(t.data) - maxTail; over > 0 {
		t.begin += int64(over)
		t.data = append([]byte(nil), t.data[over:]...)
	}
}

// from gives what is known from offset on, and where that begins.
func (t *tail) from(offset int64) (begin int64, data []byte) {
	offset = max(offset, t.begin)
	if offset >= t.end() {
		return t.end(), []byte{}
	}
	return offset, append([]byte(nil), t.data[offset-t.begin:]...)
}

// Output is a piece of a command's output.
type Output struct {
	ActionID string `json:"actionId"`
	Offset   int64  `json:"offset"` // of the piece: behind the one that was asked for where something was dropped
	Data     []byte `json:"data"`
	Done     bool   `json:"done"` // the action has ended, and its outcome has the output that counts
}

// outputTold takes a piece of output from a project's runner.
func (h *Hub) outputTold(projectID string, piece action.ExecOutput) {
	if len(piece.Data) > action.MaxOutputData {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.running[piece.Ref]
	if r == nil || r.Project != projectID || r.output == nil {
		return
	}
	r.output.add(piece.Offset, piece.Data)
	h.news.ring()
}

// OutputOf gives the output of an action from offset on, as far as it is known. It fails with ActionNotFound.
func (h *Hub) OutputOf(id string, offset int64) (Output, error) {
	h.mu.Lock()
	if r := h.running[id]; r != nil {
		o := Output{ActionID: id, Offset: offset, Data: []byte{}}
		if r.output != nil {
			o.Offset, o.Data = r.output.from(offset)
		}
		h.mu.Unlock()
		return o, nil
	}
	h.mu.Unlock()
	a, err := h.Get(id)
	if err != nil {
		return Output{}, err
	}
	o := Output{ActionID: id, Offset: offset, Data: []byte{}, Done: a.Status.Final()}
	if a.Outcome != nil && offset >= 0 && offset < int64(len(a.Outcome.Output)) {
		o.Data = []byte(a.Outcome.Output[offset:])
	}
	return o, nil
}

// outputsSince gives what is new of every running command, and moves the offsets in seen forward.
func (h *Hub) outputsSince(seen map[string]int64) []Output {
	h.mu.Lock()
	defer h.mu.Unlock()
	var news []Output
	for id, r := range h.running {
		if r.output == nil || r.output.end() <= seen[id] {
			continue
		}
		begin, data := r.output.from(seen[id])
		news = append(news, Output{ActionID: id, Offset: begin, Data: data})
		seen[id] = r.output.end()
	}
	for id := range seen {
		if h.running[id] == nil {
			delete(seen, id)
		}
	}
	return news
}
