package hub

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// burst is how many times the rate may come at once (settings.md, hub.rate).
const burst = 4

// limits bound how fast each agent proposes. The zero value is ready. There are as many as agents.
type limits struct {
	mu sync.Mutex
	of map[string]*rate.Limiter
}

// take counts one proposal, and gives how long to wait if it is one too many.
func (l *limits) take(agent string, perSecond int, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[string]*rate.Limiter{}
	}
	one := l.of[agent]
	if one == nil {
		one = rate.NewLimiter(rate.Limit(perSecond), burst*perSecond)
		l.of[agent] = one
	}
	r := one.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}
