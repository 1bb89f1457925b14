package runner

import (
	"context"
	"errors"
	"sync"
	"testing"
)

func TestKeyLockLetsOneInForAName(t *testing.T) {
	var l keyLock
	release, err := l.enter(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	other, err := l.enter(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	other()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.enter(gone, "a"); !errors.Is(err, context.Canceled) {
		t.Fatalf("two are in: %v", err)
	}
	inside := 0 // the race detector sees two at once
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			release, err := l.enter(t.Context(), "a")
			if err != nil {
				t.Error(err)
				return
			}
			defer release()
			inside++
		})
	}
	release()
	all.Wait()
	if inside != 50 || len(l.inside) != 0 {
		t.Errorf("%d were in, %d still are", inside, len(l.inside))
	}
}
