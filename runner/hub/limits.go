package hub

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// burst is how many times the rate may come at once (settings.md, hub.rate).
const burst = 4

// Rates of what is done by hand or once a machine, a second, and how many may come at once: the requests to be let in of
// all machines together, and the codes that led nowhere of all persons together.
const (
	askRate, askBurst = 1, 20
	tryRate, tryBurst = 0.2, 10
)

// limits bound how fast each agent proposes, how fast machines ask to be let in, and how fast codes are tried. Make it
// with newLimits. There are as many as agents.
type limits struct {
	mu   sync.Mutex
	of   map[string]*rate.Limiter
	asks *rate.Limiter
	try  *rate.Limiter
}

func newLimits() *limits {
	return &limits{of: map[string]*rate.Limiter{}, asks: rate.NewLimiter(askRate, askBurst), try: rate.NewLimiter(tryRate, tryBurst)}
}

// asked counts one request of a machine to be let in, and gives how long to wait if it is one too many.
func (l *limits) asked(now time.Time) time.Duration { return reserve(l.asks, now) }

// mayTry gives how long to wait before the next code is tried.
func (l *limits) mayTry(now time.Time) time.Duration {
	if missing := 1 - l.try.TokensAt(now); missing > 0 {
		return time.Duration(missing / tryRate * float64(time.Second))
	}
	return 0
}

// failed counts a code that led nowhere.
func (l *limits) failed(now time.Time) { l.try.AllowN(now, 1) }

// take counts one proposal, and gives how long to wait if it is one too many.
func (l *limits) take(agent string, perSecond int, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.of[agent]
	if one == nil {
		one = rate.NewLimiter(rate.Limit(perSecond), burst*perSecond)
		l.of[agent] = one
	}
	return reserve(one, now)
}

func reserve(one *rate.Limiter, now time.Time) time.Duration {
	r := one.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}
