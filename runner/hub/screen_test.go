package hub

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestAPersonWhoIsSlowHoldsTheRunnerUpOnce: one who takes a little now and then must not be waited for each time.
func TestAPersonWhoIsSlowHoldsTheRunnerUpOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen("a")
		stop := make(chan struct{})
		go func() {
			for tick := time.NewTicker(900 * time.Millisecond); ; {
				select {
				case <-tick.C:
					<-s.frames
				case <-stop:
					tick.Stop()
					return
				}
			}
		}()
		began := time.Now()
		for range screenFrames + 20 {
			s.put(make([]byte, 100))
		}
		if took := time.Since(began); took > screenPatience || s.lost == 0 {
			t.Errorf("%s in all, and %d bytes lost", took, s.lost)
		}
		close(stop)
		for len(s.frames) > 0 { // it catches up
			<-s.frames
		}
		s.put([]byte("on"))
		if f := <-s.frames; s.lost != 0 || s.patience != screenPatience || len(f.data) < 20 {
			t.Errorf("%q, %d lost, %s of patience", f.data, s.lost, s.patience)
		}
	})
}

// TestPatienceReturnsToWhoWaits: one who has taken everything and waits for more has caught up, too.
func TestPatienceReturnsToWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen("a")
		s.patience = 0
		taken := make(chan frame)
		go func() { taken <- <-s.frames }()
		synctest.Wait() // until it waits
		s.put([]byte("on"))
		<-taken
		if s.patience != screenPatience {
			t.Errorf("%s of patience", s.patience)
		}
	})
}

// TestSideThatDoesNotReadIsClosed: a screen that has ended gives its side time, and no more.
func TestSideThatDoesNotReadIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, never := newScreen("a"), make(chan struct{})
		began, closing := time.Now(), make(chan struct{})
		go func() {
			defer close(closing)
			s.untilClosing(never, never)
		}()
		s.end(TerminalNews{})
		<-closing
		if took := time.Since(began); took != 2*goodbye {
			t.Errorf("it was closed after %s", took)
		}
	})
}
