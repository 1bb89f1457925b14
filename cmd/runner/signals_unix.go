//go:build unix

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// stopSignals are the signals that ask for an orderly stop.
func stopSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// endBy ends this process as the signal does by default.
func endBy(s os.Signal) {
	if number, ok := s.(syscall.Signal); ok {
		_ = syscall.Kill(os.Getpid(), number)
	}
}

// untilAlone is for commands that have more to lose than their output. Its context is also ended by the closing of the
// terminal, which may tell it more than once, as the shell and the kernel do, and none of these ends the process at once. A
// process that was started with the signal ignored, as nohup does, goes on. Until it is cancelled, nothing that reads the
// output ends the process by going away either: then writing fails.
func untilAlone(ctx context.Context) (context.Context, context.CancelFunc) {
	unread := make(chan os.Signal, 1) // what is told to nobody; ignoring the signal instead would reach the commands that are run
	signal.Notify(unread, syscall.SIGPIPE)
	stop := func() {}
	if !signal.Ignored(syscall.SIGHUP) {
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
	}
	return ctx, func() {
		stop()
		signal.Stop(unread)
	}
}
