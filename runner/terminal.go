package runner

import (
	"context"
	"errors"
	"sync"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
)

const (
	// terminalPiece is the most that one pty_data carries, before base64. A slow line is not held up by it for long.
	terminalPiece = 32 << 10
	// terminalUnread is how much of one terminal's output may be on its way without proof that the server has read it.
	// It bounds how long other messages of the connection wait behind a flood.
	terminalUnread = 256 << 10
	// lineBusy is the wait before a message is tried again for which the connection had no place.
	lineBusy = 50 * time.Millisecond
)

// terminal is one on its way from open to end. Its counts are read when its goroutines have ended.
type terminal struct {
	all   *terminals
	ref   string
	queue *keystrokes
	ctx   context.Context // ends when nobody wants the terminal any more
	end   context.CancelFunc

	in, out int64 // bytes: typed and taken, shown and sent
}

// run opens the terminal, serves it and tells its end.
func (t *terminal) run(open action.PtyOpen) {
	s, l := t.all.s, t.all.l
	defer t.all.ended(t)
	defer t.end()
	shell, place, err := s.openShell(t.ctx, open)
	if err != nil {
		if t.ctx.Err() == nil {
			fail := failure.From(err, "terminal "+t.ref)
			s.log.Warn("refused", "terminal", t.ref, "failure", fail)
			t.push(action.EventPtyError, action.PtyFailed(t.ref, fail))
		}
		return
	}
	opened := time.Now()
	s.log.Info("terminal opened", "terminal", t.ref, "by", open.By, "where", place, "cols", open.Cols, "rows", open.Rows)
	t.push(action.EventPtyOpened, action.PtyOpened{SessionRef: t.ref})

	feeding, full := context.WithCancel(t.ctx)
	var feed sync.WaitGroup
	feed.Go(func() { t.feed(feeding, shell) })
	t.show(shell)
	full()
	exit := shell.Wait()
	feed.Wait()
	s.log.Info("terminal closed", "terminal", t.ref, "by", open.By, "exit_code", exit.code, "signal", exit.signal, "note", exit.note,
		"input_bytes", t.in, "output_bytes", t.out, "duration", time.Since(opened).Round(time.Millisecond))
	if t.ctx.Err() != nil {
		return // the server closed it, or is gone
	}
	t.all.close(t.ref) // the reference is free when the server hears of it
	closed := action.PtyClosed{SessionRef: t.ref, Signal: exit.signal}
	if exit.code >= 0 {
		closed.ExitCode = &exit.code
	}
	if l.granted.Has(action.ExtPtyClosed) {
		s.reply(l, action.EventPtyClosed, closed)
		return
	}
	s.reply(l, action.EventPtyError, action.PtyFailed(t.ref, failure.New(failure.TerminalEnded, "terminal "+t.ref).Because("%s", exit)))
}

// feed hands what was typed to the shell, in order, and the sizes between.
func (t *terminal) feed(ctx context.Context, shell terminalShell) {
	for {
		next, ok := t.queue.next(ctx)
		if !ok {
			return
		}
		if next.cols > 0 {
			if err := shell.Resize(next.cols, next.rows); err != nil {
				t.all.s.log.Warn("not resized", "terminal", t.ref, "failure", failure.From(err, "terminal "+t.ref))
			}
			continue
		}
		n, err := shell.Write(next.data)
		t.in += int64(n)
		if err != nil {
			return // it has ended, or is about to; its output tells
		}
	}
}

// show sends the shell's output until its end, no faster than the server reads it.
func (t *terminal) show(shell terminalShell) {
	piece := make([]byte, terminalPiece)
	unread := 0
	for {
		n, err := shell.Read(piece)
		if n > 0 {
			if t.push(action.EventPtyData, action.PtyData{SessionRef: t.ref, Data: piece[:n]}) {
				t.out += int64(n)
			}
			if unread += n; unread >= terminalUnread {
				t.send(t.all.l.conn.Sync)
				unread = 0
			}
		}
		if err != nil {
			return // its end
		}
	}
}

// push sends a message of the terminal, and tells whether it is on its way.
func (t *terminal) push(event string, message any) bool {
	return t.send(func(ctx context.Context) error { return t.all.l.ch.Push(ctx, event, message) })
}

// send tries again while the line is busy. A line that does not take it ends the terminal: what follows would have a hole
// in front.
func (t *terminal) send(try func(context.Context) error) bool {
	for {
		err := try(t.ctx)
		if !errors.Is(err, channel.ErrQueueFull) {
			if err != nil {
				t.end()
			}
			return err == nil
		}
		select {
		case <-time.After(lineBusy):
		case <-t.ctx.Done():
		}
	}
}
