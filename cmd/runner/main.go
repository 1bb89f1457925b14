// Command runner is the agent daemon and its local control plane in one binary.
//
// Each command stands in a file of its own: it parses, calls the package that does the work, and prints.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"

	"brabo.dev/runner/service"
)

func main() {
	// A crash ends in a signal. Its usual exit code, 2, is our code for wrong use, after which a service manager starts
	// nothing again.
	debug.SetTraceback("crash")
	os.Exit(service.Serve(untilStopped(), func(ctx context.Context) int {
		return execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	}))
}

// untilStopped is ended by the first signal, which asks for an orderly stop. A second one ends the process at once: from
// the first on the default applies, and one that came in between is made up for.
func untilStopped() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, stopSignals()...)
	go func() { // it ends with the process
		<-signals
		stop()
		signal.Stop(signals)
		select {
		case second := <-signals:
			endBy(second)
		default:
		}
	}()
	return ctx
}
