package exec

import (
	"cmp"
	"context"
	"time"
)

// run is one Run on its way. Its fields belong to the goroutine of Run.
type run struct {
	attended
	c      *Command
	window window
	pump   *pump

	counting <-chan time.Time // when to look whether the family is past its limits; nil: never
	excess   *excess          // the limit that it went past
}

// reason is why a command ended.
type reason int

const (
	byItself reason = iota
	byCancel
	byDeadline
	byLimit
)

// Run runs c and returns when it and everything that it started have ended, by the deadline at the latest. Cancelling
// ctx ends it early: TERM, the grace, KILL. All that went wrong is in the Result.
func Run(ctx context.Context, c Command) Result {
	begun := time.Now()
	if c.Received.IsZero() {
		c.Received = begun
	}
	result := start(ctx, &c)
	result.Duration = time.Since(begun)
	return result
}

func start(ctx context.Context, c *Command) Result {
	r := run{c: c, window: newWindow(c.Received, c.Deadline, c.Grace)}
	if refused := refuse(ctx, c, r.window); refused != nil {
		return notRun(refused)
	}
	if !c.Deadline.IsZero() {
		c.by = time.Now().Add(r.window.untilTerm(time.Now()))
	}
	reader, writer, err := openPipe()
	if err != nil {
		return notRun(startFailure(c, err))
	}
	family, err := newFamily(c, writer)
	writer.Close()
	if err != nil {
		reader.Close()
		return notRun(startFailure(c, err))
	}
	r.pump = startPump(reader, c)
	r.attended = attend(family)
	if c.Started != nil {
		pid := r.family.proc.Pid
		c.Started(pid, r.family.identity())
	}
	if c.Limits.counted() {
		ticks := time.NewTicker(countEvery)
		defer ticks.Stop()
		r.counting = ticks.C
	}
	why := r.watch(ctx)
	switch {
	case why == byLimit:
		r.exterminate(r.window.untilGivenUp(time.Now())) // each moment of grace would be one of more
	case why != byItself:
		r.end(r.window.grace)
	case !r.settle(min(cmp.Or(c.linger, lingering), r.window.untilTerm(time.Now())), ctx.Done()):
		if r.excess != nil {
			r.exterminate(r.window.untilGivenUp(time.Now()))
		} else {
			r.end(lingering)
		}
	}
	return r.result(ctx, why)
}

// watch waits until the shell has ended, or has to be ended.
func (r *run) watch(ctx context.Context) reason {
	term := time.NewTimer(r.window.untilTerm(time.Now()))
	defer term.Stop()
	tend := time.NewTicker(tendEvery)
	defer tend.Stop()
	why := byItself
	for why == byItself {
		select {
		case <-r.ended:
			return byItself
		case <-ctx.Done():
			why = byCancel
		case <-term.C:
			why = byDeadline
		case now := <-tend.C:
			r.family.others() // collects zombies
			if r.window.untilTerm(now) <= 0 {
				why = byDeadline
			}
		case <-r.counting:
			if r.isOver() {
				return byLimit
			}
		}
	}
	select {
	case <-r.ended: // at the same moment: what has an exit code was not ended by us
		return byItself
	default:
		return why
	}
}

// isOver tells whether the family is past its limits, and keeps which.
func (r *run) isOver() bool {
	if r.excess == nil {
		r.excess = r.family.excess(r.c.Limits)
	}
	return r.excess != nil
}

// end asks the family to end, and after the grace ends it.
func (r *run) end(grace time.Duration) {
	r.family.terminate()
	if r.settle(r.window.untilKill(time.Now(), grace), nil) {
		return
	}
	r.exterminate(r.window.untilGivenUp(time.Now()))
}

// settle waits until nothing of the family is alive and nobody holds the pipe, for at most patience or until
// interrupted, and tells whether that came.
func (r *run) settle(patience time.Duration, interrupted <-chan struct{}) bool {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	ended, drained := r.ended, r.pump.done
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		if r.shellGone() {
			ended = nil
		}
		if isClosed(r.pump.done) {
			drained = nil
		}
		if ended == nil && drained == nil && r.family.others() == 0 {
			return true
		}
		select {
		case <-ended:
		case <-drained:
		case <-time.After(pause):
		case <-interrupted:
			return false
		case <-r.counting:
			if r.isOver() {
				return false
			}
		case <-limit.C:
			return false
		}
	}
}

// exterminate kills until nothing is left that can be: what is born during one round falls in the next.
func (r *run) exterminate(patience time.Duration) {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		r.family.kill()
		if r.shellGone() && r.family.others() == 0 {
			return
		}
		select {
		case <-time.After(pause):
		case <-limit.C:
			return
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
