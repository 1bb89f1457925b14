package redact

import (
	"bytes"
	"encoding/json"
	"io"
)

// Lines gives a writer that takes a whole line with each Write, as log handlers make them, and passes it on without what
// is known at that moment. A line of JSON stays one. It may be used by as many goroutines as `to`.
func (k *Known) Lines(to io.Writer) io.Writer {
	if k == nil {
		return to
	}
	return lines{k, to}
}

type lines struct {
	known *Known
	to    io.Writer
}

// Write implements io.Writer.
func (l lines) Write(line []byte) (int, error) {
	set := l.known.Set()
	clean := set.Bytes(line)
	if len(clean) > 0 && clean[0] == '{' && !json.Valid(clean) && json.Valid(line) {
		clean = append(set.JSON(bytes.TrimSpace(line)), '\n') // a secret that holds the quotes of the line itself
	}
	if _, err := l.to.Write(clean); err != nil {
		return 0, err
	}
	return len(line), nil
}
