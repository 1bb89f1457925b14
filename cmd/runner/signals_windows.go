package main

import (
	"context"
	"os"
	"syscall"
)

// stopSignals are the signals that ask for an orderly stop: a console's Ctrl-C arrives as Interrupt, and its closing, a
// logoff and a shutdown as SIGTERM.
func stopSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// endBy ends this process as the signal does by default.
func endBy(os.Signal) { os.Exit(exitFail) }

// untilAlone is for commands that have more to lose than their output; here the closing of the console is one of the
// stopSignals.
func untilAlone(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}
