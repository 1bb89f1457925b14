package main

import (
	"context"
	"log/slog"
	"time"

	"brabo.dev/runner/runner"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/pairing"
)

// listWaits are the waits for a list of projects that is empty or can't be had (protocol.md section 5); the last is also
// how often a list is asked for again, so that added and removed projects are noticed. Commands of this machine that add
// or remove one do not wait for that.
var listWaits = []time.Duration{15 * time.Second, 30 * time.Second, time.Minute}

// lister asks a server again and again which projects this machine serves.
type lister struct {
	ask   func(context.Context) (projects []pairing.Project, dropped []*failure.Failure, err error)
	place func([]pairing.Project) []runner.Project
	pause func(context.Context, time.Duration) // returns early when the context ends
	tell  func(*failure.Failure)               // why the list can't be had; nil: it can
	log   *slog.Logger
}

// follow sends the projects each time the server has told them, until ctx ends. It never gives up: a manager of services
// would only start the daemon again, and the person who can help may do so on the server.
func (l lister) follow(ctx context.Context, lists chan<- []runner.Project) {
	for try, had := 0, false; ctx.Err() == nil; try++ {
		listed, dropped, err := l.ask(ctx)
		if ctx.Err() != nil {
			return
		}
		for _, f := range dropped {
			l.log.Warn("a project is left out", "failure", f)
		}
		if err != nil {
			f := failure.From(err, "the list of projects")
			l.tell(f)
			l.log.Warn("the list of projects can't be had", "failure", f)
		} else {
			l.tell(nil)
		}
		switch {
		case err != nil:
		case len(listed) == 0 && !had:
			l.log.Info("no project to serve yet")
		default:
			had, try = true, len(listWaits)
			select {
			case lists <- l.place(listed):
			case <-ctx.Done():
				return
			}
		}
		l.pause(ctx, max(listWaits[min(try, len(listWaits)-1)], pairing.RetryAfter(err)))
	}
}

// pauseUnless gives a pause that also ends when somebody wishes the list to be asked for at once.
func pauseUnless(again <-chan struct{}) func(context.Context, time.Duration) {
	return func(ctx context.Context, d time.Duration) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-again:
		case <-ctx.Done():
		}
	}
}
