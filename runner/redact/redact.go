// Package redact takes secrets out of what leaves this process: results, kept outputs, logs and bundles.
//
// A Set looks for each of its secrets as it stands and in the forms that programs print it in: base64 on one line,
// URL-escaped, JSON-escaped, quoted for a shell. It works on texts, on JSON values, and, by a Writer, on a stream in pieces, of which it holds back no
// more than what may be the beginning of a form. The time is linear in the text, whatever the secrets are. What was
// encrypted, reversed or otherwise worked on is not found: this keeps a secret from slipping out, and does not stop a
// program that means to carry it out.
//
// Known is the set that changes while the process runs. The package starts no goroutines.
package redact

import (
	"bytes"
	"encoding/json"
)

// Mark stands for each run of bytes that was taken out.
const Mark = "(redacted)"

// MinLength is the length in bytes of the shortest secret that is looked for. A shorter one would be found in half of
// all texts, and can be guessed anyway.
const MinLength = 8

// MaxTotal is how many bytes of secrets a Set should be made of at most: it needs about 200 times their size.
const MaxTotal = 64 << 10

// Set is a set of secrets. It does not change and may be used by several goroutines; nil is the empty one.
type Set struct{ a *automaton }

// New makes the set of the secrets that are long enough; nil where there is none. Of a secret of several lines each line
// counts as one, too, since what prints it may indent them.
func New(secrets ...string) *Set {
	all := map[string]bool{}
	for _, secret := range secrets {
		addForms(all, secret)
	}
	if len(all) == 0 {
		return nil
	}
	return &Set{newAutomaton(all)}
}

// Text is text with a Mark in the place of each run of bytes that belongs to a form of a secret.
func (s *Set) Text(text string) string {
	if s == nil {
		return text
	}
	spans, _ := scan(s.a, 0, text, nil)
	if len(spans) == 0 {
		return text
	}
	return string(replaced([]byte(text), spans))
}

// Bytes is Text for bytes; where nothing is found, it is p itself.
func (s *Set) Bytes(p []byte) []byte {
	if s == nil {
		return p
	}
	spans, _ := scan(s.a, 0, p, nil)
	if len(spans) == 0 {
		return p
	}
	return replaced(p, spans)
}

// JSON is the JSON value raw with Text applied to each of its strings and names. Of what is no JSON it is Bytes.
func (s *Set) JSON(raw json.RawMessage) json.RawMessage {
	if s == nil {
		return raw
	}
	var value any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if !json.Valid(raw) || dec.Decode(&value) != nil {
		return s.Bytes(raw)
	}
	value, changed := s.value(value)
	if !changed {
		return raw
	}
	clean, err := json.Marshal(value)
	if err != nil {
		return s.Bytes(raw)
	}
	return clean
}

// value is a decoded JSON value without secrets, and whether there were any.
func (s *Set) value(v any) (any, bool) {
	changed := false
	switch v := v.(type) {
	case string:
		text := s.Text(v)
		return text, text != v
	case []any:
		for i := range v {
			var c bool
			v[i], c = s.value(v[i])
			changed = changed || c
		}
	case map[string]any:
		for name, member := range v {
			clean, c := s.value(member)
			to := s.Text(name)
			if to != name {
				delete(v, name)
			}
			if c || to != name {
				v[to], changed = clean, true
			}
		}
	}
	return v, changed
}

func replaced(p []byte, spans []span) []byte {
	clean := make([]byte, 0, len(p))
	at := 0
	for _, s := range spans {
		clean = append(append(clean, p[at:s.from]...), Mark...)
		at = s.to
	}
	return append(clean, p[at:]...)
}
