package logs

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// A warning that repeats is written this often in this time, and then counted: a daemon that fails in a loop must not
// push everything else out of its log.
const (
	sparingBurst  = 50
	sparingWindow = 10 * time.Second
	sparingTexts  = 1000 // how many messages are told apart
)

// sparing passes records on, but holds back warnings and errors with the same message beyond the burst. The first that
// passes again says how many were held back.
type sparing struct {
	next  slog.Handler
	state *sparingState // shared with the handlers that With makes
}

type sparingState struct {
	mu   sync.Mutex
	seen map[string]*tally
}

type tally struct {
	since    time.Time
	passed   int
	withheld int
}

func newSparing(next slog.Handler) sparing {
	return sparing{next, &sparingState{seen: map[string]*tally{}}}
}

// Enabled implements slog.Handler.
func (s sparing) Enabled(ctx context.Context, level slog.Level) bool {
	return s.next.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (s sparing) WithAttrs(attrs []slog.Attr) slog.Handler {
	return sparing{s.next.WithAttrs(attrs), s.state}
}

// WithGroup implements slog.Handler.
func (s sparing) WithGroup(name string) slog.Handler {
	return sparing{s.next.WithGroup(name), s.state}
}

// Handle implements slog.Handler.
func (s sparing) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		pass, withheld := s.state.count(r.Message, r.Time)
		if !pass {
			return nil
		}
		if withheld > 0 {
			r = r.Clone()
			r.AddAttrs(slog.Int("withheld", withheld))
		}
	}
	return s.next.Handle(ctx, r)
}

func (s *sparingState) count(text string, now time.Time) (pass bool, withheld int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) >= sparingTexts {
		clear(s.seen)
	}
	t := s.seen[text]
	if t == nil {
		t = &tally{since: now}
		s.seen[text] = t
	}
	if now.Sub(t.since) >= sparingWindow || now.Before(t.since) {
		*t = tally{since: now, withheld: t.withheld}
	}
	if t.passed >= sparingBurst {
		t.withheld++
		return false, 0
	}
	t.passed++
	withheld, t.withheld = t.withheld, 0
	return true, withheld
}
