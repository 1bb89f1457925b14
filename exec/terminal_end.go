package exec

import (
	"context"
	"time"
)

// foreignHold is how long a terminal of which nothing lives any more is read on when somebody outside holds it open.
const foreignHold = 2 * time.Second

// hangUpEvery is how often the shell is told again that its terminal goes away.
const hangUpEvery = 500 * time.Millisecond

// keep sees the terminal to its end. read is closed when nothing more can come from it.
func (t *Terminal) keep(ctx context.Context, read <-chan struct{}) {
	defer close(t.over)
	defer t.cancel()
	stop := context.AfterFunc(ctx, func() {
		t.output.discard()
		t.console.stopWriting()
	})
	defer stop()
	t.watch(ctx)
	if !t.leave() {
		t.exterminate()
	}
	t.drain(ctx, read)
	t.exit.ExitCode, t.exit.Signal, t.exit.Left, t.exit.Survivors = t.dismiss()
}

// leave hangs up, gives everything in the terminal its grace, and tells whether all has ended.
func (t *Terminal) leave() bool {
	t.console.hangUp(t.family)
	left := t.grace
	for ; left > hangUpEvery; left -= hangUpEvery {
		if t.settle(hangUpEvery) {
			return true
		}
		if !t.shellGone() {
			t.console.hangUpAgain(t.family)
		}
	}
	return t.settle(left)
}

// watch waits until the shell has ended, or has to be ended.
func (t *Terminal) watch(ctx context.Context) {
	tend := time.NewTicker(tendEvery)
	defer tend.Stop()
	for {
		select {
		case <-t.ended:
			return
		case <-ctx.Done():
			return
		case <-tend.C:
			t.family.others() // collects zombies
		}
	}
}

// settle waits until nothing of the terminal is alive, for at most patience, and tells whether that came.
func (t *Terminal) settle(patience time.Duration) bool {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	ended := t.ended
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		if t.shellGone() {
			if ended = nil; t.family.outliving() == 0 {
				return true
			}
		}
		select {
		case <-ended:
		case <-time.After(pause):
		case <-limit.C:
			return false
		}
	}
}

// exterminate kills until nothing is left that can be: what is born during one round falls in the next.
func (t *Terminal) exterminate() {
	for limit := time.Now().Add(afterKill); time.Now().Before(limit); {
		t.family.killSession()
		if t.settle(20 * time.Millisecond) {
			return
		}
	}
}

// drain waits until what is still in the terminal has been read, which a reader that is slow may hold up for as long as
// it likes, and closes it.
func (t *Terminal) drain(ctx context.Context, read <-chan struct{}) {
	defer func() {
		t.console.close()
		<-read
	}()
	pause := time.NewTicker(foreignHold)
	defer pause.Stop()
	for {
		select {
		case <-read:
			return
		case <-pause.C:
			if !t.output.isFull() {
				return // what can still come is of somebody else, who holds the terminal open
			}
		case <-ctx.Done():
			select {
			case <-read:
			case <-time.After(lastWords):
			}
			return
		}
	}
}
