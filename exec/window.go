package exec

import "time"

const (
	// defaultGrace holds where a Command says none; it is the default of commands.grace.
	defaultGrace = 2 * time.Second
	// maxReserve is kept between KILL and the deadline for the family's end and the last of the output.
	maxReserve = 250 * time.Millisecond
	// lingering is how long what the shell left behind may go on undisturbed, and again how long after TERM.
	lingering = 500 * time.Millisecond
	// afterKill bounds the wait for a killed family where no deadline does.
	afterKill = 2 * time.Second
	// tendEvery is the rhythm in which a long command's dead orphans are collected and the wall clock is looked at.
	tendEvery = 5 * time.Second
)

// window is when a command may run and when it has to be ended. Its zero deadline never comes.
type window struct {
	deadline time.Time
	grace    time.Duration // between TERM and the deadline
	reserve  time.Duration // between KILL and the deadline, part of grace
}

func newWindow(received, deadline time.Time, grace time.Duration) window {
	if grace <= 0 {
		grace = defaultGrace
	}
	w := window{deadline: deadline, grace: grace, reserve: min(grace/4, maxReserve)}
	if !deadline.IsZero() {
		w.grace = min(grace, max(deadline.Sub(received), 0)/4)
		w.reserve = min(w.grace/4, maxReserve)
	}
	return w
}

// left is the time until the deadline. A machine that slept has the monotonic clock behind the wall clock: the one
// that leaves less counts, since the server's clock did not sleep.
func (w window) left(now time.Time) time.Duration {
	if w.deadline.IsZero() {
		return 1<<63 - 1
	}
	return min(w.deadline.Sub(now), w.deadline.Round(0).Sub(now.Round(0)))
}

// untilTerm is the time until the family has to be asked to end; zero or less: at once, or never started.
func (w window) untilTerm(now time.Time) time.Duration { return w.left(now) - w.grace }

// untilKill is the time from a TERM sent now to the KILL: want, or less where the deadline is nearer.
func (w window) untilKill(now time.Time, want time.Duration) time.Duration {
	return max(min(want, w.left(now)-w.reserve), 0)
}

// untilGivenUp is the time that a killed family has to be gone.
func (w window) untilGivenUp(now time.Time) time.Duration {
	return max(min(afterKill, w.left(now)-w.reserve/2), 20*time.Millisecond)
}
