package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/policy"
)

func newPolicySeedCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "seed",
		Short: "Print the entries with which a project begins",
		Long: `Print the allow entries with which a project begins, one a line: reading, and the project's own tests and builds.
With --json they are printed as a permissions.json.`,
		Args: exactArgs(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			entries := slices.Concat(policy.Seeded())
			if asJSON {
				var file policy.File
				file.Add(policy.ListAllow, entries...)
				file.Add(policy.ListDeny)
				file.Add(policy.ListAsk)
				_, err := cmd.OutOrStdout().Write(file.Text())
				return err
			}
			for _, e := range entries {
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), e); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a permissions.json")
	return cmd
}
