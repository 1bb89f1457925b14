package exec

import (
	"errors"
	"io"
	"os"
	"time"
)

const (
	// firstBuffer is enough for what most commands write; the garbage of a larger one would be most of a command's.
	firstBuffer = 4 << 10
	// pumpBuffer is what Linux lets a pipe hold, so that one read can empty it.
	pumpBuffer = 64 << 10
)

// pump reads a command's pipe to its end. It owns the reading goroutine; finish waits for it.
type pump struct {
	from    *os.File
	output  *Output
	spool   *spool
	observe func([]byte)
	filter  io.WriteCloser // nil: there is none
	done    chan struct{}  // closed when the pipe has ended, or was given up
}

func startPump(from *os.File, c *Command) *pump {
	p := &pump{from: from, output: NewOutput(c.ResultLimit), spool: newSpool(c), observe: c.Observe, done: make(chan struct{})}
	if c.Filter != nil {
		p.filter = c.Filter(p)
	}
	go p.run()
	return p
}

// Write keeps and shows p. It never fails.
func (p *pump) Write(piece []byte) (int, error) {
	p.output.Write(piece)
	p.spool.write(piece)
	if p.observe != nil {
		p.observe(piece)
	}
	return len(piece), nil
}

func (p *pump) run() {
	defer close(p.done)
	to := io.Writer(p)
	if p.filter != nil {
		to = p.filter
		defer p.filter.Close() // before done; it has nobody to fail to
	}
	buf := make([]byte, firstBuffer)
	for {
		n, err := p.from.Read(buf)
		if n > 0 {
			_, _ = to.Write(buf[:n]) // nothing behind it fails
		}
		if err != nil {
			return
		}
		if n == len(buf) && n < pumpBuffer {
			buf = make([]byte, pumpBuffer)
		}
	}
}

// finish waits for the pipe's end, but no longer than patience where somebody still holds it open, and closes it.
func (p *pump) finish(patience time.Duration) {
	if isClosed(p.done) {
		p.from.Close()
		return
	}
	if err := p.from.SetReadDeadline(time.Now().Add(patience)); errors.Is(err, os.ErrNoDeadline) {
		// A pipe that takes no deadline (Windows): closing it ends the read.
		select {
		case <-p.done:
		case <-time.After(patience):
		}
		p.from.Close()
	}
	<-p.done
	p.from.Close()
}
