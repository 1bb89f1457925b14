package runner

import (
	"context"
	"sync"
	"time"

	"brabo.dev/runner/containerctl"
	"brabo.dev/runner/runner/action"
)

const (
	// outputDelay lets what a command writes at once travel in one message.
	outputDelay = 20 * time.Millisecond
	// outputSpacing keeps one action below action.MaxOutputsPerSecond with its last message, which does not wait.
	outputSpacing = time.Second / (action.MaxOutputsPerSecond - 1)
	// streamTimeout bounds one message: what a slow line does not take is dropped.
	streamTimeout = 2 * time.Second
)

// outputStream shows a running command's output to a server that granted it, as far as the line takes it: what does
// not fit is dropped, and the next offset shows the gap. The result stays the authority. It owns one goroutine, from
// the first byte until close.
type outputStream struct {
	s   *session
	ref string

	mu              sync.Mutex // guards what follows
	pending         []byte     // at most action.MaxOutputData
	offset          int64      // of pending's first byte
	started, closed bool

	more  chan struct{} // holds one token when there are bytes to send
	stop  chan struct{}
	ended sync.WaitGroup
}

func (s *session) streamOutput(ref string) *outputStream {
	return &outputStream{s: s, ref: ref, more: make(chan struct{}, 1), stop: make(chan struct{})}
}

// Write takes p. It never waits for the line, and never fails.
func (o *outputStream) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return len(p), nil
	}
	o.pending = append(o.pending, p...)
	if over := len(o.pending) - action.MaxOutputData; over > 0 {
		o.pending = append(o.pending[:0], o.pending[over:]...)
		o.offset += int64(over)
	}
	if !o.started {
		o.started = true
		o.ended.Go(o.run)
	}
	poke(o.more)
	return len(p), nil
}

// close sends what is left and returns when nothing more will be sent. What is written later is not shown.
func (o *outputStream) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	close(o.stop)
	o.ended.Wait()
}

func (o *outputStream) run() {
	defer o.send()
	wait := time.NewTimer(outputDelay)
	defer wait.Stop()
	for {
		select {
		case <-wait.C:
		case <-o.stop:
			return
		}
		select {
		case <-o.more:
			o.send()
			wait.Reset(outputSpacing)
		case <-o.stop:
			return
		}
	}
}

// send pushes what is pending, or drops it where nobody takes it.
func (o *outputStream) send() {
	o.mu.Lock()
	message := action.ExecOutput{Ref: o.ref, Offset: o.offset, Data: append([]byte(nil), o.pending...)}
	o.offset += int64(len(o.pending))
	o.pending = o.pending[:0]
	o.mu.Unlock()
	if len(message.Data) > 0 {
		o.s.show(action.ExtOutput, action.EventExecOutput, message)
	}
}

// progress gives a function that tells how far a step of an action is, to a server that granted it. It tells the end
// of a step always, and what lies between at most action.MaxProgressRate times a second. It is for one goroutine.
func (s *session) progress(ref string) func(stage, unit string, current, total int64) {
	const spacing = time.Second / (action.MaxProgressRate - 1) // room for the end of a step
	var last time.Time
	return func(stage, unit string, current, total int64) {
		now := time.Now()
		if now.Sub(last) < spacing && (total == 0 || current < total) {
			return
		}
		last = now
		s.show(action.ExtProgress, action.EventActionProgress,
			action.ActionProgress{Ref: ref, Stage: stage, Current: current, Total: total, Unit: unit})
	}
}

// show pushes something about a running action on the connection that is there now, if it granted x. A line that does
// not take it drops it.
func (s *session) show(x action.Extension, event string, message any) {
	s.mu.Lock()
	l := s.live
	s.mu.Unlock()
	if l == nil || !l.granted.Has(x) {
		return
	}
	ctx, cancel := context.WithTimeout(s.work, streamTimeout)
	defer cancel()
	if err := l.ch.Push(ctx, event, message); err != nil {
		s.log.Debug("not shown", "event", event, "error", err)
	}
}

// pulling tells how far a pull is, in the log and to the server.
func (s *session) pulling(ref string) func(containerctl.Progress) {
	tell := s.progress(ref)
	return func(p containerctl.Progress) {
		s.log.Info("pulling", "ref", ref, "image", p.Image, "bytes", p.Current, "of", p.Total)
		tell("pull", "bytes", p.Current, p.Total)
	}
}
