package main

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/pairing"
)

// TestListOfProjectsIsAskedForPolitelyAndForEver plays a server's answers in a row and looks at what comes of each: the
// list that is served, the failure that the status shows, and the wait before the next question.
func TestListOfProjectsIsAskedForPolitelyAndForEver(t *testing.T) {
	refused := failure.New(failure.NotMember, "p")
	busy := failure.New(failure.RateLimited, "p").Wrap(&pairing.StatusError{Status: 429, RetryAfter: 5 * time.Minute})
	for i, c := range []struct {
		answers [][]string // ids; nil: it fails with fails
		fails   error
		served  [][]string
		shown   []failure.Name // "": none
		waits   []time.Duration
	}{
		{
			answers: [][]string{{}, {}, {}, {}, {"a"}, {"a", "b"}, {"b"}, {}},
			served:  [][]string{{"a"}, {"a", "b"}, {"b"}, {}},
			shown:   []failure.Name{"", "", "", "", "", "", "", ""},
			waits:   []time.Duration{15 * time.Second, 30 * time.Second, time.Minute, time.Minute, time.Minute, time.Minute, time.Minute, time.Minute},
		},
		{
			answers: [][]string{nil, nil, nil, nil, {"a"}, nil, {"a"}}, fails: refused,
			served: [][]string{{"a"}, {"a"}},
			shown:  []failure.Name{failure.NotMember, failure.NotMember, failure.NotMember, failure.NotMember, "", failure.NotMember, ""},
			waits:  []time.Duration{15 * time.Second, 30 * time.Second, time.Minute, time.Minute, time.Minute, time.Minute, time.Minute},
		},
		{
			answers: [][]string{nil, {"a"}}, fails: busy,
			served: [][]string{{"a"}},
			shown:  []failure.Name{failure.RateLimited, ""},
			waits:  []time.Duration{5 * time.Minute, time.Minute},
		},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		var served [][]string
		var shown []failure.Name
		var waits []time.Duration
		asked := 0
		lists := make(chan []runner.Project, len(c.answers))
		lister{
			ask: func(context.Context) (projects []pairing.Project, _ []*failure.Failure, err error) {
				answer := c.answers[asked]
				if asked++; answer == nil {
					return nil, nil, c.fails
				}
				for _, id := range answer {
					projects = append(projects, pairing.Project{ID: id})
				}
				return projects, nil, nil
			},
			place: func(listed []pairing.Project) (placed []runner.Project) {
				for _, p := range listed {
					placed = append(placed, runner.Project{ID: p.ID})
				}
				return placed
			},
			pause: func(_ context.Context, d time.Duration) {
				if waits = append(waits, d); asked == len(c.answers) {
					cancel()
				}
			},
			tell: func(f *failure.Failure) {
				if f == nil {
					f = &failure.Failure{}
				}
				shown = append(shown, f.Name)
			},
			log: slog.New(slog.DiscardHandler),
		}.follow(ctx, lists)
		close(lists)
		for list := range lists {
			ids := []string{}
			for _, p := range list {
				ids = append(ids, p.ID)
			}
			served = append(served, ids)
		}
		for _, diff := range []string{cmp.Diff(c.served, served), cmp.Diff(c.shown, shown), cmp.Diff(c.waits, waits)} {
			if diff != "" {
				t.Errorf("%d: %s", i, diff)
			}
		}
		cancel()
	}
}
