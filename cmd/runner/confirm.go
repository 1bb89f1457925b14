package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
)

func newConfirmCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "confirm",
		Short: "List the actions that wait for you at this machine",
		Long: `confirm lists what the daemons of this user hold because a person has to decide about it and none is known to have:
what reaches the outside world, asks for privileges, can't be read, or may change a guarded file. policy.json says what is held.

` + "`runner confirm allow ID`" + ` lets one action run once, and ` + "`runner confirm refuse ID`" + ` ends it. One that nobody answers within
confirm.deadline is refused. A server that does not wait has its answer already; once allowed, the same action passes once when it comes again.

Nothing that comes over a network can confirm, and neither can what a daemon itself has started.`,
		Example: `  runner confirm
  runner confirm allow ID`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			held, err := allHeld(cmd.Context())
			if asJSON {
				return errors.Join(writeJSON(cmd.OutOrStdout(), held), err)
			}
			writeHeld(cmd.OutOrStdout(), held, time.Now())
			return orNone(cmd, err, len(held), "nothing waits for you at this machine") // what could not be asked may hold something
		},
	}
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "as JSON: the actions, or the one that was decided")
	for _, c := range []struct {
		name, short string
		allow       bool
	}{
		{"allow", "Let one held action run once", true},
		{"refuse", "End one held action", false},
	} {
		cmd.AddCommand(&cobra.Command{
			Use: c.name + " ID", Short: c.short, Args: usageArgs(cobra.ExactArgs(1)),
			RunE: func(cmd *cobra.Command, args []string) error {
				h, err := confirmHeld(cmd.Context(), args[0], c.allow)
				if err != nil || !asJSON {
					return err
				}
				return writeJSON(cmd.OutOrStdout(), h)
			},
		})
	}
	return cmd
}

// allHeld asks every daemon. Its error is about those that could not be asked, or that there is none.
func allHeld(ctx context.Context) ([]control.Held, error) {
	src, err := processSources()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	held := []control.Held{}
	found := control.Find(ctx, src.Folders().State)
	if len(found) == 0 {
		return held, failure.New(failure.DaemonNotRunning, src.Folders().State)
	}
	for _, f := range found {
		if f.Err != nil {
			err = errors.Join(err, f.Err)
		}
		for _, p := range f.Status.Projects {
			held = append(held, p.Held...)
		}
	}
	return held, err
}

// confirmHeld tells the daemon that holds the action.
func confirmHeld(ctx context.Context, id string, allow bool) (control.Held, error) {
	src, err := processSources()
	if err != nil {
		return control.Held{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	for _, f := range control.Find(ctx, src.Folders().State) {
		if f.Err != nil {
			err = errors.Join(err, f.Err)
		}
		for _, p := range f.Status.Projects {
			for _, h := range p.Held {
				if h.ID == id {
					return h, control.NewClient(f.Folder).Confirm(ctx, id, allow)
				}
			}
		}
	}
	if err != nil { // the one that holds it may be among those that could not be asked
		return control.Held{}, err
	}
	return control.Held{}, failure.New(failure.HeldActionNotFound, id)
}

func writeHeld(w io.Writer, held []control.Held, now time.Time) {
	for _, h := range held {
		fmt.Fprintf(w, "%s  %s of project %s, for %s, until %s\n", visible(h.ID), visible(h.Event), visible(h.Project), ago(now, h.Since), h.Until.Local().Format(time.TimeOnly))
		for _, line := range visibleLines(h.Text) {
			fmt.Fprintf(w, "    %s\n", line)
		}
		if h.Cwd != "" {
			fmt.Fprintf(w, "    in %s\n", visible(h.Cwd))
		}
		fmt.Fprintf(w, "    because %s\n", visible(h.Reason))
		switch h.Answer {
		case control.HeldAllowed:
			fmt.Fprintln(w, "    allowed: it passes once when it comes again")
		case control.HeldRefused:
			fmt.Fprintln(w, "    refused")
		}
	}
}
