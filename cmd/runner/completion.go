package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newCompletionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the script that completes runner's commands in a shell",
		Long: `completion prints a script to standard output. To load it in the present shell:

  bash        source <(runner completion bash)
  zsh         source <(runner completion zsh)
  fish        runner completion fish | source
  powershell  runner completion powershell | Out-String | Invoke-Expression

To have it in every shell, write it into the folder where that shell looks for completions.`,
		Args:      usageArgs(cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs)),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return usageError(fmt.Errorf("there is no completion for %q", args[0]))
		},
	}
}
