package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"brabo.dev/runner/service"
)

func newServiceRefresh() *cobra.Command {
	var flags serviceFlags
	var env []string
	cmd := &cobra.Command{
		Use:   "refresh-env",
		Short: "Capture PATH and the other variables of an installed service again",
		Long: `refresh-env takes the variables of this shell into the unit of an installed service, shows what changed, and starts the
service anew where it runs. Run it after a change of PATH that commands should see.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serviceRefresh(cmd.Context(), flags, env, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags.add(cmd)
	cmd.Flags().StringArrayVar(&env, "env", nil, "name of another variable to freeze; may be repeated")
	return cmd
}

func serviceRefresh(ctx context.Context, flags serviceFlags, env []string, out, errOut io.Writer) error {
	t, err := flags.target(ctx)
	if err != nil {
		return err
	}
	d, err := t.manager.Find(t.id)
	if err != nil {
		return serviceExit(err)
	}
	before := d.Environment
	// What was chosen at installation is chosen still.
	capture := service.CaptureEnvironment(t.src.Environ, slices.Concat(slices.Sorted(maps.Keys(before)), env))
	d.Environment = capture.Values
	if d.Grace, err = stopGrace(t.src); err != nil {
		return serviceExit(err)
	}
	err = t.manager.Update(ctx, d)
	printChanges(out, before, d.Environment)
	printFailures(errOut, "left out", capture.Left)
	return serviceExit(err)
}

// printChanges shows two environments' differences, one line a change.
func printChanges(out io.Writer, before, after map[string]string) {
	names := slices.Sorted(maps.Keys(before))
	for name := range after {
		if _, there := before[name]; !there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	same := true
	for _, name := range names {
		was, had := before[name]
		is, has := after[name]
		if had == has && was == is {
			continue
		}
		same = false
		if had {
			fmt.Fprintf(out, "- %s=%s\n", name, visible(was))
		}
		if has {
			fmt.Fprintf(out, "+ %s=%s\n", name, visible(is))
		}
	}
	if same {
		fmt.Fprintln(out, "nothing changed")
	}
}
