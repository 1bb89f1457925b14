package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
)

// Bounds of one attempt. The ticket lives 30 s (protocol.md 3.2), so waiting longer for a join is of no use.
const (
	addressTimeout = 15 * time.Second
	joinTimeout    = 30 * time.Second
	flushTimeout   = 5 * time.Second // for the last results of a drain
	leaveTimeout   = 2 * time.Second
	// connectTime is what a whole attempt may take: its parts, the dial's own bound among them.
	connectTime = addressTimeout + 10*time.Second + joinTimeout
)

// errEnded is the end of a connection for a reason that is not the connection's own.
var errEnded = errors.New("the connection was ended by us")

// link is one joined connection.
type link struct {
	conn    *channel.Conn
	ch      *channel.Channel
	granted action.Extensions
	mirror  string // the destination that this join granted; empty: none

	terminals *terminals
}

// attempt makes one connection, joins, and serves it until it ends, or until ctx ends and the drain is over. The error
// says why it ended or never came to be.
func (s *session) attempt(ctx context.Context) error {
	l, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer l.conn.Close()
	s.joins(l)
	s.log.Info("joined", "extensions", l.granted)
	if s.confirmable(l.granted) {
		if err := l.ch.Push(ctx, action.EventWorkspaceConfirm, action.WorkspaceConfirm{Path: s.folder.Path}); err != nil {
			return err
		}
	}
	return s.serve(ctx, l)
}

func (s *session) connect(ctx context.Context) (link, error) {
	if err := s.m.attempts.Wait(ctx); err != nil {
		return link{}, err
	}
	s.busy(turnConnect, connectTime)
	asking, cancel := context.WithTimeout(ctx, addressTimeout)
	defer cancel()
	address, err := s.m.o.Address(asking, s.project.ID)
	if err != nil {
		return link{}, err
	}
	conn, err := s.m.o.Dialer.Dial(ctx, string(address))
	if err != nil {
		return link{}, err
	}
	joining, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	capabilities := s.capabilities()
	extensions := s.extensions(capabilities)
	ch, reply, err := conn.Join(joining, "terminal:"+s.project.ID, action.NewJoin(capabilities, extensions))
	if err != nil {
		conn.Close()
		return link{}, err
	}
	return link{
		conn: conn, ch: ch, granted: action.Granted(reply, extensions), mirror: action.GrantedMirror(reply),
	}, nil
}

// serve reads the channel and delivers results until the connection ends or the drain is over.
func (s *session) serve(ctx context.Context, l link) error {
	live, end := context.WithCancelCause(context.WithoutCancel(ctx))
	l.terminals = &terminals{s: s, l: l, ctx: live, work: &s.terminals, open: map[string]*terminal{}}
	s.setLive(&l)
	defer s.setLive(nil)
	delivered := make(chan error, 1)
	go func() { delivered <- s.deliver(live, l) }()

	drained := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(drained)
		s.drain()
		s.flush(live, l)
		// Leaving ends the channel, and with it the loop below.
		leaving, cancel := context.WithTimeout(live, leaveTimeout)
		defer cancel()
		if err := l.ch.Leave(leaving); err != nil {
			l.conn.Close()
		}
	})
	s.rests(turnConnect)
	for msg := range l.ch.Receive() {
		s.busy(turnDispatch, 0)
		s.dispatch(l, msg)
		s.rests(turnDispatch)
	}
	s.busy(turnConnect, leaveTimeout)
	err := l.ch.Err()
	end(errEnded)
	if late := <-delivered; err == nil {
		err = late
	}
	if !stop() {
		s.rests(turnConnect) // the drain takes as long as its grace
		<-drained
	}
	return err
}

// setLive notes the connection on which running actions are shown.
func (s *session) setLive(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live = l
}

// wakeUp has the connection tested once the machine has slept: it may have died meanwhile without a word.
func (s *session) wakeUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live != nil {
		s.live.conn.HeartbeatNow()
	}
}

// flush waits until nothing is due any more, for a short time.
func (s *session) flush(ctx context.Context, l link) {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	poke(s.wake)
	for {
		due, err := s.m.o.Ledger.Waiting(s.m.o.Server, s.project.ID)
		if err != nil || due == 0 {
			return
		}
		select {
		case <-s.flushed:
		case <-ctx.Done():
			return
		case <-l.conn.Done():
			return
		}
	}
}

func marshal(payload any) (json.RawMessage, error) {
	raw, err := json.Marshal(payload)
	if err != nil {
		return nil, failure.New(failure.Internal, fmt.Sprintf("%T", payload)).Because("it can't be written as JSON: %v", err).Wrap(err)
	}
	return raw, nil
}
