package main

import (
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/hub/mcp"
)

func newMCPCommand() *cobra.Command {
	var flags hubFlags
	var patience time.Duration
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the Model Context Protocol on standard input and output, for a coding agent",
		Long: `mcp is started by an agent that speaks the Model Context Protocol. Its tools run commands, write files, commit, push and
start containers in one project, each of them only after the project's rules or a person have approved it.

` + "`runner agent add`" + ` prints the snippet for the agent's configuration, with the token in RUNNER_AGENT_TOKEN.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := flags.client()
			if err != nil {
				return err
			}
			project, err := flags.projectID(cmd.Context(), c)
			if err != nil {
				return err
			}
			return mcp.Serve(cmd.Context(), mcp.Options{Hub: c, Project: project, Version: version, Patience: patience}, &sdk.StdioTransport{})
		},
	}
	flags.addProject(cmd.Flags())
	cmd.Flags().DurationVar(&patience, "patience", 10*time.Minute, "how long a tool waits for a decision and the outcome")
	return cmd
}
