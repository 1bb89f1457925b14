package logs

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"time"
)

// Entry is one line of a log.
type Entry struct {
	Time    time.Time // zero where the line does not say
	Level   slog.Level
	Message string
	Attrs   []Attr // the rest, in the order of the line
	Raw     string // the line itself
}

// Attr is one member of a line.
type Attr struct {
	Name  string
	Value json.RawMessage
}

// Attr gives the text of the named member; empty where there is none or it is no string.
func (e Entry) Attr(name string) string {
	for _, a := range e.Attrs {
		var text string
		if a.Name == name && json.Unmarshal(a.Value, &text) == nil {
			return text
		}
	}
	return ""
}

// parse reads a line. One that is no JSON object, as a crash or a full disk may leave it, is a message as it stands.
func parse(line string) Entry {
	e := Entry{Raw: line}
	dec := json.NewDecoder(strings.NewReader(line))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		e.Message = line
		return e
	}
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			return Entry{Raw: line, Message: line}
		}
		e.take(name.(string), value)
	}
	if _, err := dec.Token(); err != nil {
		return Entry{Raw: line, Message: line}
	}
	return e
}

func (e *Entry) take(name string, value json.RawMessage) {
	switch name {
	case slog.TimeKey:
		if json.Unmarshal(value, &e.Time) == nil {
			return
		}
	case slog.LevelKey:
		if e.Level.UnmarshalText(bytes.Trim(value, `"`)) == nil {
			return
		}
	case slog.MessageKey:
		if json.Unmarshal(value, &e.Message) == nil {
			return
		}
	}
	e.Attrs = append(e.Attrs, Attr{name, value})
}
