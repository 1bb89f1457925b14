package main

import (
	"context"
	"log/slog"
	"os"
	"sync"

	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/service/notify"
)

// accompanyHub keeps the service manager told how the hub stands: that it is up once ready is closed, that it stops when
// ctx ends, and that it lives as long as its store answers, without which it can do nothing. It also gives back what the start alone needed. The
// function that is given back ends its goroutines.
func accompanyHub(ctx context.Context, ready <-chan struct{}, address string, opened *store.Store, log *slog.Logger) (stop func()) {
	manager := notify.FromEnvironment(os.Environ(), os.Getpid())
	watching, end := context.WithCancel(context.WithoutCancel(ctx))
	var watch sync.WaitGroup
	watch.Go(func() {
		manager.Watch(watching, notify.Phases{Ready: ready, Stopping: ctx.Done()}, func() notify.Look {
			if err := opened.View(func(store.Tx) error { return nil }); err != nil {
				return notify.Look{Status: "listening at " + address, Stuck: "the store: " + err.Error()}
			}
			return notify.Look{Status: "listening at " + address}
		}, log)
	})
	watch.Go(func() { leaveStartup(watching, ready, log) })
	return func() {
		end()
		watch.Wait()
	}
}
