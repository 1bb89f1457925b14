package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/journal"
	"brabo.dev/runner/runner/settings"
)

func newHistoryCommand() *cobra.Command {
	var q control.Query
	var since string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Show the actions that this machine received, newest first",
		Long: `history lists what the daemons of this user received, ran and answered, from their journals: when, for which project,
what was asked for, and how it ended. It works whether they run or not.`,
		Example: `  runner history --failed --since 1d
  runner history --project ID -n 20`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if q.Since, err = sinceFlag(since, time.Now()); err != nil {
				return usageError(err)
			}
			if q.Limit < 1 || q.Limit > 1000 {
				return usageError(failure.New(failure.Usage, "history").Because("-n is not between 1 and 1000"))
			}
			values, src, err := loadSettings()
			if err != nil {
				return err
			}
			actions, err := history(cmd.Context(), src.Folders().State, values.Journal, q)
			if asJSON {
				return errors.Join(writeJSON(cmd.OutOrStdout(), actions), err)
			}
			err = errors.Join(writeHistory(cmd.OutOrStdout(), actions), err)
			return orNone(cmd, err, len(actions), noneReceived(q))
		},
	}
	f := cmd.Flags()
	f.StringVar(&q.Project, "project", "", "only those of the project with this id")
	f.StringVar(&q.Ref, "action", "", "only the action with this ref")
	f.StringVar(&since, "since", "", "only those received since then: a duration like 90m or 2d, or a time as RFC 3339 has it")
	f.BoolVar(&q.Failed, "failed", false, "only those with a failure or an exit code other than 0")
	f.IntVarP(&q.Limit, "lines", "n", 100, "how many at most")
	f.BoolVar(&asJSON, "json", false, "as JSON: a list")
	return cmd
}

// noneReceived says that this machine received nothing, or nothing that was asked for.
func noneReceived(q control.Query) string {
	if q.Project == "" && q.Ref == "" && q.Since.IsZero() && !q.Failed {
		return "this machine has received no action yet; `runner pending` lists those that wait at the hub"
	}
	return "no action that this machine received is of that kind"
}

// history asks each daemon, and reads the journals of those that do not run. What could be had comes with the error.
func history(ctx context.Context, state string, s settings.Journal, q control.Query) ([]control.Action, error) {
	all := []control.Action{}
	var errs []error
	for _, folder := range control.Folders(state) {
		actions, err := control.NewClient(folder).History(ctx, q)
		if failure.Is(err, failure.DaemonNotRunning) {
			actions, err = storedHistory(folder, s, q)
		}
		all = append(all, actions...)
		errs = append(errs, err)
	}
	slices.SortStableFunc(all, func(a, b control.Action) int { return b.Received.Compare(a.Received) })
	if len(all) > q.Limit {
		all = all[:q.Limit]
	}
	return all, errors.Join(errs...)
}

// storedHistory reads the journal of a daemon that does not run.
func storedHistory(folder string, s settings.Journal, q control.Query) ([]control.Action, error) {
	if _, err := os.Stat(journal.Path(folder)); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	j, err := journal.Open(journal.Options{Folder: folder, Keep: s.Keep, Size: s.Size, Reserve: s.Reserve})
	if err != nil {
		return nil, err
	}
	actions, err := historyOf(j, q)
	return actions, errors.Join(err, j.Close())
}

func historyOf(j *journal.Journal, q control.Query) ([]control.Action, error) {
	records, err := j.List(journal.Filter{Project: q.Project, Ref: q.Ref, Since: q.Since, Failed: q.Failed, Limit: q.Limit})
	actions := make([]control.Action, 0, len(records))
	for _, r := range records {
		actions = append(actions, control.Action{
			Server: r.Key.Server, Project: r.Key.Project, Event: r.Key.Event, Ref: r.Key.Ref, Text: r.Text,
			Received: r.Received, Begun: r.Begun, Finished: r.Finished, Delivered: r.Delivered, ExitCode: r.ExitCode, Failure: r.Failure,
		})
	}
	return actions, err
}

func writeHistory(out io.Writer, actions []control.Action) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, a := range actions {
		text, _, more := strings.Cut(cmp.Or(a.Text, a.Event), "\n")
		if more {
			text += " …"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n",
			a.Received.Local().Format("2006-01-02 15:04:05"), visible(a.Project), visible(a.Ref), ending(a), visible(text))
	}
	return w.Flush()
}

// ending says in a word or two what became of an action.
func ending(a control.Action) string {
	switch {
	case a.Failure != "":
		return visible(a.Failure)
	case a.ExitCode != nil:
		return fmt.Sprintf("exit %d", *a.ExitCode)
	case !a.Finished.IsZero():
		return "done"
	case !a.Begun.IsZero():
		return "running"
	}
	return "waiting"
}
