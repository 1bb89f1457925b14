package main

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"
)

// startupTakes is how long a start takes, its first connections included. What is given back too early comes again by
// itself, so nothing depends on it.
const startupTakes = 2 * time.Second

// leaveStartup gives the system back the memory that only the start needed, some time after ready is closed. It returns
// then, or when ctx ends.
func leaveStartup(ctx context.Context, ready <-chan struct{}, log *slog.Logger) {
	select {
	case <-ready:
	case <-ctx.Done():
		return
	}
	timer := time.NewTimer(startupTakes)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return
	}
	debug.FreeOSMemory()
	if err := unmapProgram(); err != nil {
		log.Debug("pages of the program that the start alone needed stay in memory", "error", err)
	}
}
