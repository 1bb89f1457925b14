package main

import (
	"os"

	"github.com/spf13/cobra"

	"brabo.dev/runner/workspace/git"
)

// gitCredentialName is the command by which git asks this program for an action's credential.
const gitCredentialName = "git-credential"

// newGitCredentialCommand is git's other end of a credential: git starts it, with the credential of one action in its
// environment.
func newGitCredentialCommand() *cobra.Command {
	return &cobra.Command{
		Use: gitCredentialName + " OPERATION", Hidden: true, Short: "Answer git's question for an action's credential",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return git.Answer(args[0], cmd.InOrStdin(), cmd.OutOrStdout(), os.Environ())
		},
	}
}
