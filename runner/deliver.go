package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/journal"
)

// ackTimeout is how long the server may take to acknowledge a result before the connection counts as dead
// (protocol.md section 12, ack).
const ackTimeout = 30 * time.Second

// deliver pushes what is due, in order, until ctx ends or the connection does. A result that was pushed on this
// connection is not pushed on it again unless it became due again. It returns nil when ctx ended it.
func (s *session) deliver(ctx context.Context, l link) error {
	send := s.sendPushed
	if l.granted.Has(action.ExtAck) {
		send = s.sendAcked
	}
	defer s.rests(turnDeliver)
	var sent uint64 // the highest serial that was pushed on this connection
	for {
		s.busy(turnDeliver, 0)
		due, err := s.m.o.Ledger.Due(s.m.o.Server, s.project.ID, sent)
		if err != nil {
			return fmt.Errorf("reading the outbox: %w", err)
		}
		if len(due) > 0 {
			sent = due[len(due)-1].Serial
			if err := send(ctx, l, due); err != nil {
				l.conn.Close()
				return err
			}
			poke(s.flushed)
			continue
		}
		s.rests(turnDeliver)
		select {
		case <-s.wake:
		case <-ctx.Done():
			return nil
		case <-l.conn.Done():
			return l.conn.Err()
		}
	}
}

// Bounds of what is on its way at once to a server that acknowledges. They keep the line busy without filling its
// memory; what is on its way when a connection falls is sent again.
const (
	flightResults = 64
	flightBytes   = 1 << 20
)

// flight is a result that was sent and not acknowledged yet.
type flight struct {
	due     journal.Due
	pending *channel.Pending
}

// sendAcked sends results in their order, several at once, and waits for the server's word on each. A refused one stays
// in the outbox for the next join.
func (s *session) sendAcked(ctx context.Context, l link, due []journal.Due) error {
	var sent []flight // oldest first
	defer func() {
		for _, f := range sent {
			f.pending.Forget()
		}
	}()
	for size := 0; len(due) > 0 || len(sent) > 0; {
		s.busy(turnDeliver, ackTimeout)
		if len(due) > 0 && (len(sent) == 0 || len(sent) < flightResults && size+len(due[0].Result.Payload) <= flightBytes) {
			d := due[0]
			if err := s.confirmMade(ctx, l, d); err != nil {
				return fmt.Errorf("confirming the folder of %s: %w", d.Key.Ref, err)
			}
			pending, err := l.ch.Start(ctx, d.Result.Event, d.Result.Payload)
			if err != nil {
				return fmt.Errorf("delivering the result of %s: %w", d.Key.Ref, err)
			}
			due, sent = due[1:], append(sent, flight{d, pending})
			size += len(d.Result.Payload)
			continue
		}
		first := sent[0]
		if err := s.acknowledged(ctx, first); err != nil {
			return err
		}
		sent = sent[1:]
		size -= len(first.due.Result.Payload)
	}
	return nil
}

// acknowledged waits for the server's word on the oldest result that is on its way. Its time counts from here: until
// now the server had those before it to deal with.
func (s *session) acknowledged(ctx context.Context, f flight) error {
	ctx, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	_, err := f.pending.Wait(ctx)
	var refused *channel.ReplyError
	switch {
	case errors.As(err, &refused):
		s.log.Warn("the server did not store a result; it is sent again after the next join", "ref", f.due.Key.Ref, "answer", refused.Error())
	case err != nil:
		return fmt.Errorf("delivering the result of %s: %w", f.due.Key.Ref, err)
	default:
		s.delivered(f.due)
	}
	return nil
}

// sendPushed delivers to a server that acknowledges nothing: a reply to a heartbeat sent later on the same connection
// is the proof that all before it was read (protocol.md 3.7).
func (s *session) sendPushed(ctx context.Context, l link, due []journal.Due) error {
	for _, d := range due {
		if err := s.confirmMade(ctx, l, d); err != nil {
			return fmt.Errorf("confirming the folder of %s: %w", d.Key.Ref, err)
		}
		if err := l.ch.Push(ctx, d.Result.Event, d.Result.Payload); err != nil {
			return fmt.Errorf("delivering the result of %s: %w", d.Key.Ref, err)
		}
	}
	s.busy(turnDeliver, ackTimeout)
	if err := l.conn.Sync(ctx); err != nil {
		return fmt.Errorf("waiting for the proof that results were read: %w", err)
	}
	// A channel that ended before the proof came read nothing more, although the connection lives on.
	if err := l.ch.Err(); err != nil {
		return err
	}
	for _, d := range due {
		s.delivered(d)
	}
	return nil
}

func (s *session) delivered(d journal.Due) {
	if err := s.m.o.Ledger.Delivered(d); err != nil {
		s.log.Error("a delivery could not be noted; the result may be sent once more", "ref", d.Key.Ref, "error", err)
		return
	}
	s.m.counts.delivered.Add(1)
	s.log.Debug("result delivered", "ref", d.Key.Ref)
}
