package channel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// The events that belong to the protocol itself.
const (
	eventJoin      = "phx_join"
	eventLeave     = "phx_leave"
	eventReply     = "phx_reply"
	eventError     = "phx_error"
	eventClose     = "phx_close"
	eventHeartbeat = "heartbeat"
	topicPhoenix   = "phoenix"
)

// Ref is a message reference as it stands on the wire: a JSON string or number.
// The empty Ref is null. The type of a ref is the sender's choice and has to be
// echoed, which is why it is kept as it came.
type Ref string

// Text is the ref without the quotes of a JSON string.
func (r Ref) Text() string {
	if len(r) == 0 || r[0] != '"' {
		return string(r)
	}
	s, _ := unquote([]byte(r))
	return s
}

// textRef makes the ref that carries s as a string; an empty s is null, which
// is also how some clients mean it.
func textRef(s string) Ref {
	if s == "" {
		return ""
	}
	var b bytes.Buffer
	if err := writeString(&b, s); err != nil {
		return ""
	}
	return Ref(b.String())
}

// Message is one message of a channel.
type Message struct {
	Topic string // null on the wire is empty here
	Event string
	// Payload is the raw JSON of a text message; nil in a binary one.
	Payload json.RawMessage
	// Binary is the data of a binary message; nil in a text one.
	Binary []byte
	// Ref is null in what a server pushes by itself, JoinRef in broadcasts too.
	Ref, JoinRef Ref

	status string // of a binary reply
}

// Binary is a payload that travels as a binary frame instead of JSON.
type Binary []byte

var (
	errNotUTF8   = errors.New("text that is not UTF-8")
	errNotArray  = errors.New("no array")
	errTooShort  = errors.New("fewer than five elements")
	errBadRef    = errors.New("a ref that is neither string, number nor null")
	errBadTopic  = errors.New("a topic that is neither string nor null")
	errBadEvent  = errors.New("an event that is not a string")
	errBadBinary = errors.New("a binary frame of no known layout")
)

// decodeText reads [join_ref, ref, topic, event, payload]. Elements after the
// fifth are ignored, as Phoenix does.
func decodeText(data []byte) (Message, error) {
	if !utf8.Valid(data) {
		return Message{}, errNotUTF8
	}
	if !json.Valid(data) {
		return Message{}, fmt.Errorf("not JSON: %w", json.Unmarshal(data, new(any)))
	}
	parts, ok := elements(data)
	if !ok {
		return Message{}, errNotArray
	}
	if parts[4] == nil {
		return Message{}, errTooShort
	}
	var m Message
	if m.JoinRef, ok = decodeRef(parts[0]); !ok {
		return Message{}, errBadRef
	}
	if m.Ref, ok = decodeRef(parts[1]); !ok {
		return Message{}, errBadRef
	}
	if string(parts[2]) != "null" {
		if m.Topic, ok = unquote(parts[2]); !ok {
			return Message{}, errBadTopic
		}
	}
	if m.Event, ok = unquote(parts[3]); !ok {
		return Message{}, errBadEvent
	}
	m.Payload = parts[4]
	return m, nil
}

// blanks are what may stand between the parts of JSON.
const blanks = " \t\r\n"

// elements splits an array that is known to be valid JSON; of more than five elements it gives the first five, of fewer
// nil for those that lack. They share the memory of data.
func elements(data []byte) (parts [5]json.RawMessage, isArray bool) {
	data = bytes.Trim(data, blanks)
	if data[0] != '[' {
		return parts, false
	}
	found, begun, depth, quoted := 0, 1, 0, false
	for at := 1; found < len(parts) && at < len(data); at++ {
		switch c := data[at]; {
		case quoted && c == '\\':
			at++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case depth > 0 && (c == ']' || c == '}'):
			depth--
		case depth == 0 && (c == ',' || c == ']'):
			if part := bytes.Trim(data[begun:at:at], blanks); len(part) > 0 { // nothing is in an empty array alone
				parts[found] = part
				found++
			}
			begun = at + 1
		}
	}
	return parts, true
}

// decodeRef takes what may stand for a ref. An empty string counts as null.
func decodeRef(raw []byte) (Ref, bool) {
	switch c := raw[0]; {
	case string(raw) == "null", string(raw) == `""`:
		return "", true
	case c == '"', c == '-', c >= '0' && c <= '9':
		return Ref(raw), true
	}
	return "", false
}

// unquote reads a JSON string that is known to be valid JSON.
func unquote(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// encodeText writes [join_ref, ref, topic, event, payload]. A nil payload is
// sent as {}, which is what the official clients send for none.
func encodeText(joinRef, ref Ref, topic, event string, payload any) ([]byte, error) {
	raw, isRaw := payload.(json.RawMessage)
	var b bytes.Buffer
	b.Grow(len(joinRef) + len(ref) + len(topic) + len(event) + len(raw) + 32)
	b.WriteByte('[')
	writeRef(&b, joinRef)
	b.WriteByte(',')
	writeRef(&b, ref)
	b.WriteByte(',')
	if topic == "" {
		b.WriteString("null")
	} else if err := writeString(&b, topic); err != nil {
		return nil, err
	}
	b.WriteByte(',')
	if err := writeString(&b, event); err != nil {
		return nil, err
	}
	b.WriteByte(',')
	var err error
	switch {
	case payload == nil:
		b.WriteString("{}")
	case isRaw && raw != nil:
		err = json.Compact(&b, raw)
	default:
		err = writeValue(&b, payload)
	}
	if err != nil {
		return nil, fmt.Errorf("encoding the payload of %s: %w", event, err)
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

// writeValue writes v without escaping what HTML would want escaped: the text of results would grow for nothing.
func writeValue(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the encoder ends with a new line
	return nil
}

// writeString writes s as JSON. Topics, events and refs are short and almost always plain.
func writeString(b *bytes.Buffer, s string) error {
	if !isPlain(s) {
		return writeValue(b, s)
	}
	b.WriteByte('"')
	b.WriteString(s)
	b.WriteByte('"')
	return nil
}

// isPlain reports whether s stands in JSON as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

func writeRef(b *bytes.Buffer, r Ref) {
	if r == "" {
		b.WriteString("null")
		return
	}
	b.WriteString(string(r))
}

// reply is the payload of a phx_reply.
type reply struct {
	Status   string          `json:"status"`
	Response json.RawMessage `json:"response"`
}

// decodeReply takes the answer out of a phx_reply, text or binary.
func decodeReply(m Message) (reply, []byte, error) {
	if m.Binary != nil {
		return reply{Status: m.status}, m.Binary, nil
	}
	var r reply
	if err := json.Unmarshal(m.Payload, &r); err != nil {
		return reply{}, nil, fmt.Errorf("a phx_reply that can't be read: %w", err)
	}
	if r.Status == "" {
		return reply{}, nil, errors.New("a phx_reply without a status")
	}
	return r, nil, nil
}
