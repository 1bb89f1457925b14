package main

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/shown"
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
func writeJSON(w io.Writer, value any) error { return writeIndentedBy(w, "", value) }

// writeIndented writes one value over several lines, for people to copy.
func writeIndented(w io.Writer, value any) error { return writeIndentedBy(w, "  ", value) }

func writeIndentedBy(w io.Writer, indent string, value any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(value); err != nil {
		return err
	}
	_, err := w.Write(shown.JSON(b.Bytes())) // people look at it, too
	return err
}
