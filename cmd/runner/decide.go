package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/hub/client"
	"brabo.dev/runner/runner/shown"
)

func newPendingCommand() *cobra.Command {
	var flags hubFlags
	var asJSON, all bool
	f := client.Filter{}
	cmd := &cobra.Command{
		Use:   "pending",
		Short: "List the actions that wait for a person",
		Long:  "pending lists the actions that wait for a decision, oldest last. With --all it lists every action.",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := flags.client()
			if err != nil {
				return err
			}
			if !all {
				f.Status = string(hub.Pending)
			}
			if f.Project, err = flags.projectFilter(cmd.Context(), c); err != nil {
				return err
			}
			actions, _, err := c.Actions(cmd.Context(), f)
			if err != nil || asJSON {
				return orJSON(cmd.OutOrStdout(), actions, err)
			}
			return orNone(cmd, writeActions(cmd.OutOrStdout(), actions), len(actions), noAction(all, flags.project))
		},
	}
	flags.add(cmd.Flags())
	cmd.Flags().StringVar(&flags.project, "project", "", "only those of the project with this id or name")
	cmd.Flags().BoolVar(&all, "all", false, "every action, not only those that wait")
	cmd.Flags().IntVarP(&f.Limit, "lines", "n", 100, "how many at most")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON: a list")
	return cmd
}

// noAction says that there is no action, or none of a project, and what lists or makes some.
func noAction(all bool, project string) string {
	of := ""
	if project != "" {
		of = " of project " + shown.Text(project)
	}
	if all {
		return "no action" + of + " was proposed yet: `runner propose terminal -- COMMAND` proposes one"
	}
	return "no action" + of + " waits for a person; `runner pending --all` lists those that were decided, too"
}

func writeActions(out io.Writer, actions []hub.Action) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, a := range actions {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", shown.Text(a.ID), shown.Text(string(a.Status)), shown.Text(a.ProposedBy.ID), shown.Text(a.Type), shown.Text(why(a)), gist(a))
	}
	return w.Flush()
}

// why is an action's reason, with what a yes would be bound to.
func why(a hub.Action) string {
	if a.Environment == action.InContainer {
		return a.Reason + " Runs inside of the project's container alone."
	}
	return a.Reason
}

// gist is what an action would do, on one line.
func gist(a hub.Action) string {
	text := cmp.Or(a.Command, string(a.Params))
	if a.Container != nil {
		text = a.Container.Image
	}
	return strings.Join(shown.Lines(text), " ⏎ ")
}

func newApproveCommand() *cobra.Command {
	var flags hubFlags
	var always, asJSON bool
	cmd := &cobra.Command{
		Use:   "approve ID",
		Short: "Approve an action that waits",
		Long: `approve lets a waiting action run. With --always the project's rules are changed so that the like needs no question any
more, and what was written is shown; some actions can't be remembered, and are refused then without being approved.`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := flags.client()
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if !always {
				d, err := c.Approve(cmd.Context(), args[0])
				if err != nil || asJSON {
					return orJSON(out, d, err)
				}
				fmt.Fprintf(out, "%s: %s\n", shown.Text(d.Action.ID), shown.Text(string(d.Action.Status)))
				return nil
			}
			d, err := c.Always(cmd.Context(), args[0])
			if err != nil || asJSON {
				return orJSON(out, d, err)
			}
			fmt.Fprintf(out, "%s: %s\n", shown.Text(d.Action.ID), shown.Text(string(d.Action.Status)))
			for _, p := range d.Patterns {
				fmt.Fprintf(out, "written: %s\n", shown.Text(p))
			}
			if d.Autonomy != nil {
				fmt.Fprintf(out, "written: agent %s may do %s without being asked\n", shown.Text(d.Autonomy.Agent), shown.Text(d.Autonomy.ActionType))
			}
			if !d.Written {
				fmt.Fprintln(out, "nothing had to be written")
			}
			for _, e := range d.AskEntries {
				fmt.Fprintf(out, "goes on asking: %s\n", shown.Text(e))
			}
			return nil
		},
	}
	flags.add(cmd.Flags())
	cmd.Flags().BoolVar(&always, "always", false, "and remember it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "the hub's answer as JSON")
	return cmd
}

// orJSON is err, or the value as JSON.
func orJSON(out io.Writer, value any, err error) error {
	if err != nil {
		return err
	}
	return writeJSON(out, value)
}

func newDenyCommand() *cobra.Command {
	var flags hubFlags
	var reason string
	cmd := &cobra.Command{
		Use:     "deny ID",
		Short:   "Refuse an action that waits",
		Example: "  runner deny ID --reason 'use the staging database'",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := flags.client()
			if err != nil {
				return err
			}
			a, err := c.Deny(cmd.Context(), args[0], reason)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", shown.Text(a.ID), shown.Text(string(a.Status)))
			return nil
		},
	}
	flags.add(cmd.Flags())
	cmd.Flags().StringVar(&reason, "reason", "", "told to who proposed it")
	return cmd
}

func newCancelCommand() *cobra.Command {
	var flags hubFlags
	cmd := &cobra.Command{
		Use:   "cancel ID",
		Short: "End an action that was approved and still runs or waits to run",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := flags.client()
			if err != nil {
				return err
			}
			a, err := c.Cancel(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", shown.Text(a.ID), shown.Text(string(a.Status)))
			return nil
		},
	}
	flags.add(cmd.Flags())
	return cmd
}
