package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
)

// Exit codes of `runner status`.
const (
	exitNotRunning = 3
	exitDegraded   = 5
)

// statusTimeout bounds how long the daemons may take to answer.
const statusTimeout = 10 * time.Second

func newStatusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Ask the daemons of this machine how they are",
		Long: `status asks each running daemon of this user, over its local socket: its connection, its projects, what runs and waits,
and what is not well, with the remedy.

It exits with 0 when all is well, 3 when no daemon runs, and 5 when one runs and something is not well.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			src, err := processSources()
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), statusTimeout)
			defer cancel()
			return showStatus(cmd.OutOrStdout(), control.Find(ctx, src.Folders().State), src.Folders().State, asJSON, time.Now())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON: what is installed, and a list of what each daemon says")
	return cmd
}

// statusReport is `runner status --json`. Fields are added and never change their meaning.
type statusReport struct {
	Installed string           `json:"installed"` // the version of this binary
	Daemons   []control.Status `json:"daemons"`
	Failures  []error          `json:"failures,omitempty"` // of daemons that could not be asked
}

func showStatus(out io.Writer, found []control.Found, state string, asJSON bool, now time.Time) error {
	report := statusReport{Installed: version, Daemons: []control.Status{}}
	well := true
	for _, f := range found {
		if f.Err != nil {
			report.Failures = append(report.Failures, failure.From(f.Err, f.Folder))
			well = false
			continue
		}
		report.Daemons = append(report.Daemons, f.Status)
		well = well && len(f.Status.Health) == 0
	}
	if asJSON {
		if err := writeJSON(out, report); err != nil {
			return err
		}
	} else {
		for i, s := range report.Daemons {
			if i > 0 {
				fmt.Fprintln(out)
			}
			writeStatus(out, s, now)
		}
		for _, err := range report.Failures {
			fmt.Fprintf(out, "a daemon could not be asked: %s\n", visible(err.Error()))
		}
	}
	switch {
	case len(found) == 0 && asJSON:
		return &exitError{Code: exitNotRunning}
	case len(found) == 0:
		return &exitError{exitNotRunning, failure.New(failure.DaemonNotRunning, state)}
	case !well:
		return &exitError{Code: exitDegraded}
	}
	return nil
}

// writeStatus writes what one daemon says, for people.
func writeStatus(w io.Writer, s control.Status, now time.Time) {
	state := "running"
	if s.Stopping {
		state = "stopping"
	}
	fmt.Fprintf(w, "runner %s is %s: pid %d, since %s\n", s.Version, state, s.PID, s.Since.Local().Format(time.RFC3339))
	if s.Version != version {
		fmt.Fprintf(w, "  installed is %s: restart the daemon to run it\n", version)
	}
	fmt.Fprintf(w, "  server    %s\n", visible(s.Server))
	fmt.Fprintf(w, "  actions   %d received, %d finished, %d delivered, %d waiting for delivery\n",
		s.Counters.Received, s.Counters.Finished, s.Counters.Delivered, s.Counters.Waiting)
	if s.Engine != nil {
		fmt.Fprintf(w, "  engine    %s\n", visible(s.Engine.Facts))
	}
	fmt.Fprintf(w, "  memory    %s, %d goroutines, journal %s\n", bytesText(s.Memory.Total), s.Goroutines, bytesText(uint64(s.Journal.Bytes)))
	if len(s.Projects) == 0 {
		fmt.Fprintln(w, "  no project yet")
	}
	for _, p := range s.Projects {
		writeProject(w, p, now)
	}
	if len(s.Health) == 0 {
		fmt.Fprintln(w, "  all is well")
	}
	for _, item := range s.Health {
		fmt.Fprintf(w, "  %s: %s\n", item.Severity, visible(item.Failure.Error()))
	}
}

func writeProject(w io.Writer, p control.Project, now time.Time) {
	parts := []string{fmt.Sprintf("%s since %s", p.State, ago(now, p.Since))}
	if !p.Until.IsZero() {
		parts = append(parts, "next attempt within "+max(0, p.Until.Sub(now)).Round(time.Second).String())
	}
	if !p.LastContact.IsZero() {
		parts = append(parts, "last heard "+ago(now, p.LastContact)+" ago")
	}
	if p.Queued > 0 {
		parts = append(parts, fmt.Sprintf("%d queued", p.Queued))
	}
	if p.Terminals > 0 {
		parts = append(parts, fmt.Sprintf("%d terminals", p.Terminals))
	}
	fmt.Fprintf(w, "  project   %s in %s: %s\n", visible(p.ID), visible(p.Root), strings.Join(parts, ", "))
	for _, h := range p.Held {
		fmt.Fprintf(w, "            %s waits for you: `runner confirm`\n", visible(h.Ref))
	}
	for _, r := range p.Running {
		fmt.Fprintf(w, "            %s %s runs for %s\n", visible(r.Event), visible(r.Ref), ago(now, r.Since))
	}
}

func ago(now, then time.Time) string { return max(0, now.Sub(then)).Round(time.Second).String() }

func bytesText(n uint64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
