package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/policy"
)

func newPolicyLintCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "lint FILE",
		Short: "Report what in a permissions.json probably is a mistake",
		Long: `Report what in a permissions.json probably is a mistake: entries that match nothing, entries that do not mean
what they seem to, duplicates, and entries that a stronger list makes idle. No report changes a verdict.

Exits with 1 where there is an error or a warning, and with 0 where there are only notes or nothing.`,
		Args: exactArgs(1, "one FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := args[0]
			if _, err := os.Lstat(path); err != nil {
				return failure.New(failure.PermissionsFileInvalid, path).Because("it can't be read").Then("check the path").Wrap(err)
			}
			file, err := policy.Load(path)
			if err != nil {
				return err
			}
			count := map[policy.Weight]int{}
			for _, r := range policy.Lint(file) {
				count[r.Weight]++
				if asJSON {
					err = writeJSON(cmd.OutOrStdout(), lintLine{path, r.Line, r.Column, r.Weight, r.Kind, r.List, r.Entry, r.Sentence})
				} else {
					_, err = fmt.Fprintln(cmd.OutOrStdout(), spokenReport(path, r))
				}
				if err != nil {
					return err
				}
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "errors: %d, warnings: %d, notes: %d\n", count[policy.Error], count[policy.Warning], count[policy.Note])
			if count[policy.Error]+count[policy.Warning] > 0 {
				return &exitError{Code: exitFail}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

// lintLine is a report as --json prints it.
type lintLine struct {
	File     string        `json:"file"`
	Line     int           `json:"line"`
	Column   int           `json:"column"`
	Weight   policy.Weight `json:"weight"`
	Kind     policy.Kind   `json:"kind"`
	List     policy.List   `json:"list,omitempty"`
	Entry    string        `json:"entry"`
	Sentence string        `json:"sentence"`
}

func spokenReport(path string, r policy.Report) string {
	what := "member"
	if r.List != "" {
		what = string(r.List)
	}
	return fmt.Sprintf("%s:%s: %s: %s %s: %s [%s]", path, r.Position, r.Weight, what, visible(r.Entry), visible(r.Sentence), r.Kind)
}

// exactArgs is cobra's, with an error that is wrong use.
func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError(fmt.Errorf("give %s, not %d arguments", what, len(args)))
		}
		return nil
	}
}
