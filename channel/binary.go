package channel

import "fmt"

// direction says who sent a frame. The binary layouts differ by it: a server's
// push has no byte for the size of a ref.
type direction int

const (
	fromClient direction = iota
	fromServer
)

// The kinds of binary frame, the first byte.
const (
	binaryPush      = 0
	binaryReply     = 1
	binaryBroadcast = 2
)

// decodeBinary reads a binary frame: its kind, one size byte for each string,
// the strings, and the data up to the end.
func decodeBinary(data []byte, from direction) (Message, error) {
	if len(data) == 0 {
		return Message{}, errBadBinary
	}
	var m Message
	var joinRef, ref string
	kind, rest := data[0], data[1:]
	var fields []*string
	switch {
	case kind == binaryPush && from == fromClient:
		fields = []*string{&joinRef, &ref, &m.Topic, &m.Event}
	case kind == binaryPush:
		fields = []*string{&joinRef, &m.Topic, &m.Event}
	case kind == binaryReply && from == fromServer:
		fields = []*string{&joinRef, &ref, &m.Topic, &m.status}
		m.Event = eventReply
	case kind == binaryBroadcast && from == fromServer:
		fields = []*string{&m.Topic, &m.Event}
	default:
		return Message{}, errBadBinary
	}
	if len(rest) < len(fields) {
		return Message{}, errBadBinary
	}
	sizes, rest := rest[:len(fields)], rest[len(fields):]
	for i, field := range fields {
		size := int(sizes[i])
		if len(rest) < size {
			return Message{}, errBadBinary
		}
		*field, rest = string(rest[:size]), rest[size:]
	}
	m.JoinRef, m.Ref = textRef(joinRef), textRef(ref)
	m.Binary = rest[:len(rest):len(rest)]
	if m.Binary == nil {
		m.Binary = []byte{}
	}
	return m, nil
}

// encodeBinary writes a binary frame of the given kind.
func encodeBinary(kind byte, data []byte, fields ...string) ([]byte, error) {
	size := 1 + len(fields) + len(data)
	for _, field := range fields {
		if len(field) > 255 {
			return nil, fmt.Errorf("%.20q… is longer than the 255 bytes that a binary frame can name", field)
		}
		size += len(field)
	}
	b := make([]byte, 0, size)
	b = append(b, kind)
	for _, field := range fields {
		b = append(b, byte(len(field)))
	}
	for _, field := range fields {
		b = append(b, field...)
	}
	return append(b, data...), nil
}
