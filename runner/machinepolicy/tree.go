package machinepolicy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// node is one JSON value with the place where it stands.
type node struct {
	at      int64 // offset of its first byte
	value   any   // string, bool, json.Number, nil, or a json.Delim for the two below
	members []member
	items   []node
}

type member struct {
	name string
	at   int64
	node
}

// maxDepth is deeper than any policy.
const maxDepth = 16

// fault is what is wrong with a text, and where.
type fault struct {
	at    int64
	cause string
}

func (f *fault) Error() string { return f.cause }

func faultAt(at int64, format string, args ...any) error {
	return &fault{at, fmt.Sprintf(format, args...)}
}

// tree reads data as one JSON text. Member names may stand once, and no character may be lost on the way.
func tree(data []byte) (node, error) {
	if !utf8.Valid(data) {
		return node{}, faultAt(0, "it is not UTF-8")
	}
	t := reader{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	t.dec.UseNumber()
	root, err := t.value(0)
	if err != nil {
		return node{}, t.explain(err)
	}
	behind := t.next()
	if _, err := t.dec.Token(); !errors.Is(err, io.EOF) {
		return node{}, faultAt(behind, "something stands behind it")
	}
	return root, nil
}

type reader struct {
	data []byte
	dec  *json.Decoder
}

// next is where the next token begins.
func (r *reader) next() int64 {
	at := r.dec.InputOffset()
	for at < int64(len(r.data)) && strings.IndexByte(" \t\r\n,:", r.data[at]) >= 0 {
		at++
	}
	return at
}

func (r *reader) explain(err error) error {
	if f := (*fault)(nil); errors.As(err, &f) {
		return f
	}
	if s := (*json.SyntaxError)(nil); errors.As(err, &s) {
		return faultAt(max(0, s.Offset-1), "it is not JSON: %v", s)
	}
	return faultAt(int64(len(r.data)), "it is not JSON: it ends too early")
}

func (r *reader) value(depth int) (node, error) {
	n := node{at: r.next()}
	token, err := r.dec.Token()
	if err != nil {
		return n, err
	}
	n.value = token
	open, isOpen := token.(json.Delim)
	switch {
	case !isOpen:
		return n, lossless(n)
	case depth == maxDepth:
		return n, faultAt(n.at, "it is nested too deeply")
	case open == '{':
		return n, r.object(&n, depth)
	}
	for r.dec.More() {
		item, err := r.value(depth + 1)
		if err != nil {
			return n, err
		}
		n.items = append(n.items, item)
	}
	_, err = r.dec.Token()
	return n, err
}

func (r *reader) object(n *node, depth int) error {
	seen := map[string]bool{}
	for r.dec.More() {
		m := member{at: r.next()}
		token, err := r.dec.Token()
		if err != nil {
			return err
		}
		m.name, _ = token.(string)
		if seen[m.name] {
			return faultAt(m.at, "the member %q is given twice", m.name)
		}
		seen[m.name] = true
		if m.node, err = r.value(depth + 1); err != nil {
			return err
		}
		n.members = append(n.members, m)
	}
	_, err := r.dec.Token()
	return err
}

// lossless refuses text in which the decoder put a mark in the place of half a character.
func lossless(n node) error {
	if s, ok := n.value.(string); ok && strings.ContainsRune(s, utf8.RuneError) {
		return faultAt(n.at, "a text holds half a character")
	}
	return nil
}

// place is the line and the column of an offset, both from 1; a column is a character.
func place(data []byte, at int64) (line, column int) {
	at = min(at, int64(len(data)))
	before := data[:at]
	line = 1 + bytes.Count(before, []byte("\n"))
	return line, 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}
