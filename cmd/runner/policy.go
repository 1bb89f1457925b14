package main

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"
)

func newPolicyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Ask what may run, and look after permissions.json",
		Long: `Ask what may run, and look after permissions.json.

These commands decide as the daemon and the hub do, by themselves: they run nothing, and need no server.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	cmd.AddCommand(newPolicyCheckCommand(), newPolicyExplainCommand(), newPolicyLintCommand(), newPolicyTestCommand(), newPolicySeedCommand())
	return cmd
}

// writeJSON writes one value as one line, operators readable.
func writeJSON(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(value)
}

// writeIndented writes one value over several lines, for people to copy.
func writeIndented(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}
