package exec

import (
	"errors"
	"os"
	"time"
)

// pumpBuffer is what Linux lets a pipe hold, so that one read can empty it.
const pumpBuffer = 64 << 10

// pump reads a command's pipe to its end. It owns the reading goroutine; finish waits for it.
type pump struct {
	from    *os.File
	output  *Output
	spool   *spool
	observe func([]byte)
	done    chan struct{} // closed when the pipe has ended, or was given up
}

func startPump(from *os.File, c *Command) *pump {
	p := &pump{from: from, output: NewOutput(c.ResultLimit), spool: newSpool(c), observe: c.Observe, done: make(chan struct{})}
	go p.run()
	return p
}

func (p *pump) run() {
	defer close(p.done)
	buf := make([]byte, pumpBuffer)
	for {
		n, err := p.from.Read(buf)
		if n > 0 {
			p.output.Write(buf[:n])
			p.spool.write(buf[:n])
			if p.observe != nil {
				p.observe(buf[:n])
			}
		}
		if err != nil {
			return
		}
	}
}

// finish waits for the pipe's end, but no longer than patience where somebody still holds it open, and closes it.
func (p *pump) finish(patience time.Duration) {
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
