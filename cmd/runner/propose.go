package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/hub/client"
	"brabo.dev/runner/runner/shown"
)

// Exit codes of what waits for an action.
const (
	exitDenied   = 6
	exitTimedOut = 124
)

// proposeFlags are what every kind of proposal takes.
type proposeFlags struct {
	hubFlags
	wait, json, passCode bool
	patience, deadline   time.Duration
}

func newProposeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "propose",
		Short: "Propose an action to the hub, as an agent does",
		Long: `propose hands an action to the hub. The project's rules approve it, deny it, or leave it to a person; what is approved
runs on the machine that serves the project.

The action's id is printed. With --wait its outcome is waited for and shown; the exit code is 0 when it was executed, 1 when
it failed, 6 when it was denied, and 124 when --patience was over first: the action stays and can still be decided.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	cmd.AddCommand(newProposeTerminalCommand(), newProposeWriteCommand(), newProposeCommitCommand(), newProposeBranchCommand(), newProposePushCommand(),
		newProposeStartCommand(), newProposePlainCommand("container-stop", "container_stop", "Propose to stop the project's container"),
		newProposePlainCommand("container-remove", "container_remove", "Propose to remove the project's container"), newProposeOtherCommand())
	return cmd
}

// proposing makes the command of one kind of proposal; make builds it from the arguments.
func proposing(cmd *cobra.Command, make func(args []string) (hub.Proposal, error)) *cobra.Command {
	var flags proposeFlags
	f := cmd.Flags()
	flags.addProject(f)
	f.BoolVar(&flags.wait, "wait", false, "wait for the outcome and show it")
	f.DurationVar(&flags.patience, "patience", 0, "with --wait, wait no longer than this (default: for ever)")
	f.DurationVar(&flags.deadline, "timeout", 0, "how long the action may take to run (default: hub.action_deadline)")
	f.BoolVar(&flags.passCode, "exit-code", false, "with --wait, exit with the command's own code where it has one")
	f.BoolVar(&flags.json, "json", false, "print the action as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p, err := make(args)
		if err != nil {
			return usageError(err)
		}
		return flags.propose(cmd.Context(), p, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

func (f *proposeFlags) propose(ctx context.Context, p hub.Proposal, out, errOut io.Writer) error {
	c, err := f.client()
	if err != nil {
		return err
	}
	if p.ProjectID, err = f.projectID(ctx, c); err != nil {
		return err
	}
	p.DeadlineMs = f.deadline.Milliseconds()
	a, err := c.Propose(ctx, p)
	if err != nil {
		return err
	}
	if !f.wait {
		return f.show(out, errOut, a)
	}
	if !a.Status.Final() {
		fmt.Fprintf(errOut, "action %s is %s: %s\n", shown.Text(a.ID), shown.Text(string(a.Status)), shown.Text(a.Reason))
		if a, err = f.await(ctx, c, a.ID); err != nil {
			return err
		}
	}
	return f.end(out, errOut, a)
}

// await waits for the end of an action.
func (f *proposeFlags) await(ctx context.Context, c *client.Client, id string) (hub.Action, error) {
	waiting := ctx
	if f.patience > 0 {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeout(ctx, f.patience)
		defer cancel()
	}
	a, err := c.Wait(waiting, id)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return a, &exitError{exitTimedOut, failure.New(failure.WaitTimedOut, "action "+id)}
	}
	return a, err
}

// show prints an action that nobody waits for.
func (f *proposeFlags) show(out, errOut io.Writer, a hub.Action) error {
	if f.json {
		return writeJSON(out, a)
	}
	fmt.Fprintln(out, shown.Text(a.ID))
	if o := a.Outcome; a.Status == hub.Failed && o != nil && o.Failure != nil { // the rule let it pass, and would read as the cause
		fmt.Fprintf(errOut, "%s: %s\n", shown.Text(string(a.Status)), shown.Text(o.Failure.Error()))
		return nil
	}
	fmt.Fprintf(errOut, "%s: %s (%s)\n", shown.Text(string(a.Status)), shown.Text(a.Reason), shown.Text(string(a.Rule)))
	if a.Status == hub.Denied {
		return &exitError{Code: exitDenied}
	}
	return nil
}

// end prints the outcome and says by the exit code what became of the action.
func (f *proposeFlags) end(out, errOut io.Writer, a hub.Action) error {
	if f.json {
		if err := writeJSON(out, a); err != nil {
			return err
		}
	} else {
		writeOutcome(out, errOut, a)
	}
	switch o := a.Outcome; {
	case a.Status == hub.Denied:
		return &exitError{Code: exitDenied}
	case f.passCode && o != nil && o.ExitCode != nil:
		if *o.ExitCode == 0 {
			return nil
		}
		return &exitError{Code: *o.ExitCode}
	case a.Status == hub.Failed:
		return &exitError{Code: exitFail}
	}
	return nil
}

// writeOutcome shows what an action gave: the output as it came on the one side, the rest on the other.
func writeOutcome(out, errOut io.Writer, a hub.Action) {
	if a.Status == hub.Denied {
		reason := a.RejectionReason
		if reason == "" {
			reason = a.Reason
		}
		fmt.Fprintf(errOut, "denied: %s\n", shown.Text(reason))
		return
	}
	o := a.Outcome
	if o == nil {
		fmt.Fprintf(errOut, "%s\n", shown.Text(string(a.Status)))
		return
	}
	fmt.Fprint(out, o.Output)
	if len(o.Result) > 0 {
		var compact json.RawMessage = o.Result
		fmt.Fprintf(out, "%s\n", shown.Text(string(compact)))
	}
	switch {
	case o.Failure != nil:
		fmt.Fprintf(errOut, "%s: %s\n", shown.Text(string(a.Status)), shown.Text(o.Failure.Error()))
	case o.ExitCode != nil && *o.ExitCode != 0:
		fmt.Fprintf(errOut, "%s: exit code %d\n", shown.Text(string(a.Status)), *o.ExitCode)
	}
}
