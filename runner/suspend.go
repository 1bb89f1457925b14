package runner

import (
	"context"
	"time"
)

const (
	// suspendTick is how often the two clocks are compared.
	suspendTick = 2 * time.Second
	// suspendJump is how far the wall clock must have run ahead of the monotonic one, which stands still while the
	// machine sleeps, before that counts as a sleep. Setting the clock forward looks the same and is treated so: the
	// cure, an early heartbeat and an early attempt to connect, harms nothing.
	suspendJump = 5 * time.Second
)

// watchSuspends compares the clocks at each tick until ctx ends, and calls slept for each jump of the wall clock, with its
// length.
func watchSuspends(ctx context.Context, ticks <-chan time.Time, now func() clocks, slept func(time.Duration)) {
	last := now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		n := now()
		if jump := n.wall.Sub(last.wall) - (n.monotonic - last.monotonic); jump >= suspendJump {
			slept(jump)
		}
		last = n
	}
}

// clocks are the two clocks of a machine at one moment.
type clocks struct {
	wall      time.Time     // without its monotonic part
	monotonic time.Duration // since some fixed moment
}

// readClocks gives a function that reads both clocks.
func readClocks() func() clocks {
	began := time.Now()
	return func() clocks {
		now := time.Now()
		return clocks{now.Round(0), now.Sub(began)}
	}
}

// late reports whether t has passed by either clock: after a sleep the monotonic clock still thinks it has time.
func late(t, now time.Time) bool {
	return !t.IsZero() && (now.After(t) || now.Round(0).After(t.Round(0)))
}
