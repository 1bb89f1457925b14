package workspace

import (
	"context"
	"errors"
	"io"

	"brabo.dev/runner/runner/failure"
)

// reader ends with ctx.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// endedBy names an end that a context brought, or is empty.
func endedBy(err error) failure.Name {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return failure.TimedOut
	case errors.Is(err, context.Canceled):
		return failure.Cancelled
	}
	return ""
}
