// Command runner is the agent daemon and its local control plane in one binary.
//
// Each command stands in a file of its own: it parses, calls the package that does the work, and prints.
package main

import (
	"context"
	"os"
	"os/signal"

	"brabo.dev/runner/service"
)

func main() {
	// The first signal asks for an orderly stop; from then on the default applies, so that a second one ends the
	// process at once.
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals()...)
	context.AfterFunc(ctx, stop)
	os.Exit(service.Serve(ctx, func(ctx context.Context) int {
		return execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	}))
}
