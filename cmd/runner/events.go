package main

import (
	"context"
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

// followPause is how long the stream of a hub that went away is left alone before it is asked for again.
const followPause = time.Second

func newEventsCommand() *cobra.Command {
	var flags hubFlags
	var follow, count, asJSON bool
	var since string
	f := client.EventFilter{Since: -1}
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Show the hub's log of who proposed, decided and did what",
		Long: `events shows the log, which is only ever added to: each line is who did what, and its own fields.

--count counts the approvals in it instead: those by people are the events proposed_action.approved, those by the rules the
events proposed_action.created whose status is auto_approved.`,
		Example: `  runner events --since 1d --type proposed_action.approved
  runner events -f --json`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			from, err := sinceFlag(since, time.Now())
			if err == nil && count && (follow || since != "" || f.Type != "") {
				err = errors.New("--count counts the whole log, and takes neither --follow nor --since nor --type")
			}
			if err != nil {
				return usageError(err)
			}
			c, err := flags.client()
			if err != nil {
				return err
			}
			if f.Project, err = flags.projectFilter(cmd.Context(), c); err != nil {
				return err
			}
			if count {
				counts, err := c.Decisions(cmd.Context(), f.Project)
				if err != nil || asJSON {
					return orJSON(cmd.OutOrStdout(), counts, err)
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "approved by people    %d\napproved by the rules %d\n", counts.ByPeople, counts.ByPolicy)
				return err
			}
			show := eventWriter(cmd.OutOrStdout(), asJSON)
			last, length, err := showEvents(cmd.Context(), c, f, from, show)
			if err == nil && !asJSON {
				err = orNone(cmd, nil, length, noEvent(f, from, follow))
			}
			if err != nil || !follow {
				return err
			}
			return followEvents(cmd.Context(), c, f, last, show)
		},
	}
	flags.add(cmd.Flags())
	cmd.Flags().StringVar(&flags.project, "project", "", "only those of the project with this id or name")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with those that come, until Ctrl-C")
	cmd.Flags().StringVar(&since, "since", "", "only those since then: a duration like 90m or 2d, or a time as RFC 3339 has it")
	cmd.Flags().StringVar(&f.Type, "type", "", "only those of this type")
	cmd.Flags().IntVarP(&f.Limit, "lines", "n", 100, "how many of the last ones")
	cmd.Flags().BoolVar(&count, "count", false, "count the approvals by people and by the rules instead")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

// noEvent says that there is no event, or none of those that were asked for.
func noEvent(f client.EventFilter, from time.Time, follow bool) string {
	text := "no event is logged yet"
	if f.Project != "" || f.Type != "" || !from.IsZero() {
		text = "no event of that kind is logged"
	}
	if follow {
		text += "; those that come are shown until Ctrl-C"
	}
	return text
}

// showEvents shows the last events, or those since a time where one is given. It gives the number of the last one, with
// which following goes on, and how many it has shown.
func showEvents(ctx context.Context, c *client.Client, f client.EventFilter, from time.Time, show func(hub.Event) error) (last int64, length int, err error) {
	if !from.IsZero() {
		f.Since, f.Limit = 0, 1000
	}
	for {
		events, err := c.Events(ctx, f)
		if err != nil {
			return last, length, err
		}
		for _, e := range events {
			last = e.Seq
			if e.At.Before(from) {
				continue
			}
			if err := show(e); err != nil {
				return last, length, err
			}
			length++
		}
		if from.IsZero() || len(events) < f.Limit {
			return last, length, nil
		}
		f.Since = last
	}
}

// followEvents shows the events after last as they come, until ctx ends. A hub that went away is asked again.
func followEvents(ctx context.Context, c *client.Client, f client.EventFilter, last int64, show func(hub.Event) error) error {
	for {
		err := c.Follow(ctx, last, func(e hub.Event) error {
			last = e.Seq
			if f.Type != "" && e.Type != f.Type || f.Project != "" && e.Project != f.Project {
				return nil
			}
			return show(e)
		})
		switch {
		case ctx.Err() != nil, errors.Is(err, context.Canceled):
			return nil
		case !failure.Is(err, failure.HubUnreachable):
			return err
		}
		pause := time.NewTimer(followPause)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil
		}
	}
}

func eventWriter(out io.Writer, asJSON bool) func(hub.Event) error {
	return func(e hub.Event) error {
		if asJSON {
			return writeJSON(out, e)
		}
		_, err := fmt.Fprintf(out, "%s %6d %-28s %s %s  %s\n", e.At.Local().Format("2006-01-02 15:04:05"), e.Seq, shown.Text(e.Type),
			shown.Text(e.Actor.Kind), shown.Text(e.Actor.ID), shown.Text(string(e.Payload)))
		return err
	}
}
