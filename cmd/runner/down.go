package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/failure"
)

func newDownCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop and remove the services of hub and daemon; keep the data",
		Long: `down undoes runner up: it stops the daemon, which lets its commands finish, then the hub, and removes both services. The
pairing, the settings, the journal and the hub's database stay, and runner up goes on with them. Where nothing is up, there
is nothing to do.

Exit codes: 0 nothing of it is up; 2 refused; 5 the service manager did not answer, so that something may still run.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			removed, err := down(cmd.Context())
			return errors.Join(removed.print(asJSON, cmd.OutOrStdout()), serviceExit(err))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// takenDown is what `down --json` prints; its form is stable.
type takenDown struct {
	Removed []string `json:"removed"` // names of services that were stopped and removed
	// Unanswered are those whose unit is removed while the manager did not say what became of what it had started.
	Unanswered []string `json:"unanswered"`
}

// down removes both services. One that can't be removed does not keep the other.
func down(ctx context.Context) (takenDown, error) {
	done := takenDown{Removed: []string{}, Unanswered: []string{}}
	var errs error
	for _, flags := range []serviceFlags{{machine: true}, {hub: true}} {
		t, err := flags.target(ctx)
		if err != nil {
			return done, err
		}
		err = t.manager.Uninstall(ctx, t.id)
		switch {
		case failure.Is(err, failure.ServiceNotInstalled):
			continue
		case err == nil:
			done.Removed = append(done.Removed, t.manager.Name(t.id))
		case failure.Is(err, failure.ServiceManagerSilent):
			done.Unanswered = append(done.Unanswered, t.manager.Name(t.id))
		}
		errs = errors.Join(errs, err)
	}
	return done, errs
}

func (d takenDown) print(asJSON bool, out io.Writer) error {
	if asJSON {
		return writeJSON(out, d)
	}
	for _, name := range d.Removed {
		fmt.Fprintf(out, "stopped and removed %s\n", name)
	}
	text := "Pairing, settings, journal and the hub's database stay; `runner up` goes on with them."
	for _, name := range d.Unanswered {
		fmt.Fprintf(out, "removed the unit of %s; the service manager did not answer, so what it started may still run\n", name)
	}
	if len(d.Removed)+len(d.Unanswered) == 0 {
		text = "no service of runner up is installed"
	}
	_, err := fmt.Fprintln(out, text)
	return err
}
