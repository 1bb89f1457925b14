package runner

import (
	"math/rand/v2"
	"time"
)

// backoff says how long to wait before the next attempt: full jitter under a ceiling that doubles, from a second to
// max, and starts again after a connection that lived a while (settings.md: connect.backoff_max).
type backoff struct {
	max      time.Duration
	attempts int
}

const firstCeiling = time.Second

// next gives the wait before the next attempt: a random time below the ceiling, but never less than floor, which is
// what the server asked for or what a refusal deserves.
func (b *backoff) next(floor time.Duration) time.Duration {
	ceiling := b.max
	// Beyond 30 doublings the shift would overflow, and no ceiling is that high.
	if b.attempts < 30 {
		ceiling = min(b.max, firstCeiling<<b.attempts)
	}
	b.attempts++
	return max(floor, rand.N(ceiling)+time.Millisecond)
}

func (b *backoff) reset() { b.attempts = 0 }

// lived starts again after a connection that lived for stable.
func (b *backoff) lived(d, stable time.Duration) {
	if d >= stable {
		b.reset()
	}
}
