package exec

import (
	"testing"
	"time"
)

func TestWindow(t *testing.T) {
	now := time.Now()
	for name, tc := range map[string]struct {
		deadline, grace time.Duration // after now; a deadline of 0: none
		term            time.Duration // until TERM
		kill            time.Duration // from TERM to KILL
	}{
		"the default deadline":           {14 * time.Second, 2 * time.Second, 12 * time.Second, 1750 * time.Millisecond},
		"no grace given":                 {14 * time.Second, 0, 12 * time.Second, 1750 * time.Millisecond},
		"a grace above the quarter":      {4 * time.Second, 2 * time.Second, 3 * time.Second, 750 * time.Millisecond},
		"a grace far above the deadline": {time.Second, time.Minute, 750 * time.Millisecond, 187500 * time.Microsecond},
		"a short grace":                  {14 * time.Second, 100 * time.Millisecond, 13900 * time.Millisecond, 75 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWindow(now, now.Add(tc.deadline), tc.grace)
			if got := w.untilTerm(now); got != tc.term {
				t.Errorf("TERM after %v, want %v", got, tc.term)
			}
			atTerm := now.Add(tc.term)
			if got := w.untilKill(atTerm, w.grace); got != tc.kill {
				t.Errorf("KILL after %v, want %v", got, tc.kill)
			}
			if end := tc.term + tc.kill + w.untilGivenUp(atTerm.Add(tc.kill)); end >= tc.deadline {
				t.Errorf("given up after %v, which is not before the deadline of %v", end, tc.deadline)
			}
		})
	}
	none := newWindow(now, time.Time{}, 3*time.Second)
	if none.untilTerm(now) < 1000*time.Hour || none.untilKill(now, none.grace) != 3*time.Second {
		t.Errorf("without a deadline TERM comes after %v and KILL after %v", none.untilTerm(now), none.untilKill(now, none.grace))
	}
}
