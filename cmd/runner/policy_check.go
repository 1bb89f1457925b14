package main

import (
	"errors"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/policy"
)

func newPolicyCheckCommand() *cobra.Command {
	var flags proposalFlags
	var asJSON, batch bool
	cmd := &cobra.Command{
		Use:   "check [flags] -- COMMAND",
		Short: "Say whether a command may run, by which rule, and why",
		Long: `Say whether a command may run, by which rule, and segment by segment why.

` + proposalHelp + `

With --batch, lines of JSON are read from standard input, {"id", "action", "role", "autonomy", "permissions", "context"}
as in a vector file, and each is answered by a line {"id", "policy", "rule", "reason"}; a line that can't be decided
about has the policy "error" and says why in its reason.

Exits with 0 whatever the verdict is.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if batch {
				if len(args) > 0 || cmd.Flags().NFlag() > 1 {
					return usageError(errors.New("--batch takes everything from its lines: no COMMAND and no other flag"))
				}
				return checkBatch(cmd.InOrStdin(), cmd.OutOrStdout())
			}
			p, err := flags.proposal(cmd, args)
			if err != nil {
				return err
			}
			e, err := policy.Explain(p.Action, p.Role, p.Autonomy, p.Permissions, p.Context)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), answerOf(e))
			}
			return printCheck(cmd.OutOrStdout(), e)
		},
	}
	flags.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&batch, "batch", false, "answer lines of JSON from standard input")
	return cmd
}

func newPolicyExplainCommand() *cobra.Command {
	var flags proposalFlags
	cmd := &cobra.Command{
		Use:   "explain [flags] -- COMMAND",
		Short: "Draw what a command would really run, and what speaks for and against it",
		Long: `Draw what a command would really run, and what speaks for and against it, as a small tree. Characters that a
terminal hides or obeys are written out, like <U+202E>.

` + proposalHelp,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := flags.proposal(cmd, args)
			if err != nil {
				return err
			}
			e, err := policy.Explain(p.Action, p.Role, p.Autonomy, p.Permissions, p.Context)
			if err != nil {
				return err
			}
			return printTree(cmd.OutOrStdout(), p.Action.Command, e)
		},
	}
	flags.register(cmd)
	return cmd
}
