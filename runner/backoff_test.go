package runner

import (
	"testing"
	"time"
)

func TestBackoffStaysBetweenFloorAndCeiling(t *testing.T) {
	b := backoff{max: time.Minute}
	for i := range 1000 {
		ceiling := time.Minute
		if i < 6 {
			ceiling = firstCeiling << i
		}
		if got := b.next(0); got <= 0 || got > ceiling+time.Millisecond {
			t.Fatalf("attempt %d waits %v, ceiling %v", i, got, ceiling)
		}
	}
	if got := b.next(2 * time.Minute); got < 2*time.Minute {
		t.Errorf("the server asked for two minutes, got %v", got)
	}
	b.reset()
	if got := b.next(0); got > firstCeiling+time.Millisecond {
		t.Errorf("after a reset: %v", got)
	}
}

func TestBackoffSpreads(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 100 {
		b := backoff{max: time.Minute, attempts: 10}
		seen[b.next(0).Round(time.Second)] = true
	}
	if len(seen) < 20 {
		t.Errorf("100 waits fall on %d seconds only", len(seen))
	}
}

func TestBackoffStartsAgainAfterAConnectionThatLived(t *testing.T) {
	b := backoff{max: time.Minute}
	b.next(0)
	if b.lived(time.Minute-1, time.Minute); b.attempts != 1 {
		t.Error("it starts again after a connection that fell at once")
	}
	if b.lived(time.Minute, time.Minute); b.attempts != 0 {
		t.Error("it does not start again")
	}
}
