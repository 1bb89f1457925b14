package main

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/hub/client"
	"brabo.dev/runner/runner/shown"
)

func newAgentCommand() *cobra.Command {
	cmd := nounCommand("agent", "Look after the agents that may propose", `An agent may propose actions, read its own, and report their outcome. It can decide nothing and change no rule.`)
	cmd.AddCommand(newAgentAddCommand(), newAgentListCommand(), newAgentRemoveCommand(), newHandoffCommand())
	return cmd
}

func newAgentAddCommand() *cobra.Command {
	var flags hubFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Make an agent, and print its token and a snippet for MCP clients",
		Long: `add makes an agent of one project. Its token is printed once and kept nowhere in clear. The snippet is what most clients
of the Model Context Protocol want in their configuration.`,
		Example: "  runner agent add coder",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := flags.client()
			if err != nil {
				return err
			}
			project, err := flags.projectID(cmd.Context(), c)
			if err != nil {
				return err
			}
			token, err := c.AddAgent(cmd.Context(), project, args[0])
			if err != nil {
				return err
			}
			s, err := snippetOf(args[0], c.URL(), token)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), map[string]any{"agent": args[0], "project": project, "token": token, "mcp": s})
			}
			return writeAgent(cmd.OutOrStdout(), args[0], project, token, s)
		},
	}
	flags.addProject(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

// snippet is the part of an MCP client's configuration that names this server.
type snippet map[string]map[string]snippetServer

type snippetServer struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

func snippetOf(agent, url, token string) (snippet, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	return snippet{"mcpServers": {"runner-" + agent: {
		Command: binary, Args: []string{"mcp"}, Env: map[string]string{hubURLVariable: url, agentTokenVariable: token},
	}}}, nil
}

func writeAgent(out io.Writer, agent, project, token string, s snippet) error {
	fmt.Fprintf(out, "agent %s of project %s\ntoken %s\n\nfor an MCP client:\n\n", shown.Text(agent), shown.Text(project), shown.Text(token))
	return writeIndented(out, s)
}

func newAgentListCommand() *cobra.Command {
	var flags hubFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the agents", Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := flags.client()
			if err != nil {
				return err
			}
			agents, err := c.Agents(cmd.Context())
			if err != nil || asJSON {
				return orJSON(cmd.OutOrStdout(), agents, err)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			for _, a := range agents {
				fmt.Fprintf(w, "%s\t%s\tby %s\n", shown.Text(a.ID), shown.Text(a.Project), shown.Text(a.Issuer))
			}
			return orNone(cmd, w.Flush(), len(agents), "no agent yet: `runner agent add NAME` makes one")
		},
	}
	flags.add(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON: a list")
	return cmd
}

func newAgentRemoveCommand() *cobra.Command {
	var flags hubFlags
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "Remove an agent; its token is worth nothing from then on", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := flags.client()
			if err != nil {
				return err
			}
			project, err := flags.projectID(cmd.Context(), c)
			if err != nil {
				return err
			}
			return c.RemoveAgent(cmd.Context(), project, args[0])
		},
	}
	flags.addProject(cmd.Flags())
	return cmd
}

func newHandoffCommand() *cobra.Command {
	var flags hubFlags
	cmd := &cobra.Command{
		Use: "accept-handoff PROJECT AGENT", Short: "Let the infrastructure agent start the project's container", Args: usageArgs(cobra.ExactArgs(2)),
		Long: `accept-handoff lets AGENT, the one that looks after the project's infrastructure, start its container without a question,
by a row of autonomy. runner autonomy none --agent AGENT --type container_start takes it back.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.named(cmd.Context(), args[0], func(c *client.Client, id string) error {
				_, err := c.AcceptHandoff(cmd.Context(), id, args[1])
				return err
			})
		},
	}
	flags.add(cmd.Flags())
	return cmd
}
