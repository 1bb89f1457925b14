package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/hub/client"
	"brabo.dev/runner/runner/policy"
	"brabo.dev/runner/runner/shown"
)

const memberAddLong = `add makes a person with one of the roles viewer, developer, maintainer and owner. The token is printed once and kept
nowhere in clear: it is what they sign in with at the page, and what their command line asks with.`

func newMemberCommand() *cobra.Command {
	cmd := nounCommand("member", "Look after the people who may see and decide", `The roles are viewer, developer, maintainer and owner; each type of action has the least role that may decide about it.`)
	var flags hubFlags
	add := &cobra.Command{
		Use: "add NAME ROLE", Short: "Add a person, and print their token", Long: memberAddLong, Example: "  runner member add ana developer",
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := flags.client()
			if err != nil {
				return err
			}
			token, err := c.AddMember(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), shown.Text(token))
			return nil
		},
	}
	role := &cobra.Command{
		Use: "role NAME ROLE", Short: "Change a person's role", Long: "role gives a person another role: viewer, developer, maintainer or owner.",
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := flags.client()
			if err != nil {
				return err
			}
			return c.SetRole(cmd.Context(), args[0], args[1])
		},
	}
	remove := &cobra.Command{
		Use: "remove NAME", Short: "Remove a person; their token is worth nothing from then on", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := flags.client()
			if err != nil {
				return err
			}
			return c.RemoveMember(cmd.Context(), args[0])
		},
	}
	var asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "List the people", Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := flags.client()
			if err != nil {
				return err
			}
			members, err := c.Members(cmd.Context())
			if err != nil || asJSON {
				return orJSON(cmd.OutOrStdout(), members, err)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			for _, m := range members {
				fmt.Fprintf(w, "%s\t%s\n", shown.Text(m.ID), shown.Text(fmt.Sprint(m.Role)))
			}
			return w.Flush()
		},
	}
	list.Flags().BoolVar(&asJSON, "json", false, "as JSON: a list")
	for _, c := range []*cobra.Command{add, role, remove, list} {
		flags.add(c.Flags())
		cmd.AddCommand(c)
	}
	return cmd
}

func newCredentialCommand() *cobra.Command {
	cmd := nounCommand("credential", "Look after the owner's git credentials", `The hub keeps the owner's credential for a git host and hands it to the daemon only with a git action for that host.`)
	var flags hubFlags
	var user, file string
	set := &cobra.Command{
		Use:   "set HOST",
		Short: "Keep a credential for a git host",
		Long:  "set reads the token from --token-from, else from the standard input; on a terminal it is asked for and not shown.",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			token, err := secretFrom(file, cmd.InOrStdin(), cmd.ErrOrStderr())
			if err != nil {
				return usageError(err)
			}
			c, err := flags.client()
			if err != nil {
				return err
			}
			return c.SetGitCredential(cmd.Context(), args[0], user, token)
		},
	}
	set.Flags().StringVar(&user, "username", "", "the name that the host wants beside the token")
	set.Flags().StringVar(&file, "token-from", "", "file with the token")
	remove := &cobra.Command{
		Use: "remove HOST", Short: "Forget the credential for a git host", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := flags.client()
			if err != nil {
				return err
			}
			return c.RemoveGitCredential(cmd.Context(), args[0])
		},
	}
	var asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "List the git hosts that a credential is kept for", Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := flags.client()
			if err != nil {
				return err
			}
			credentials, err := c.GitCredentials(cmd.Context())
			if err != nil || asJSON {
				return orJSON(cmd.OutOrStdout(), credentials, err)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			for _, each := range credentials {
				fmt.Fprintf(w, "%s\t%s\n", shown.Text(each.Host), shown.Text(each.Username))
			}
			return orNone(cmd, w.Flush(), len(credentials), "no credential yet: `runner credential set HOST` keeps one")
		},
	}
	list.Flags().BoolVar(&asJSON, "json", false, "as JSON: a list, without the tokens")
	for _, c := range []*cobra.Command{set, remove, list} {
		flags.add(c.Flags())
		cmd.AddCommand(c)
	}
	return cmd
}

// secretFrom reads a secret from a file, a pipe, or a person.
func secretFrom(path string, in io.Reader, prompt io.Writer) (string, error) {
	var raw []byte
	var err error
	file, isFile := in.(*os.File)
	switch {
	case path != "":
		raw, err = os.ReadFile(path)
	case isFile && term.IsTerminal(int(file.Fd())):
		fmt.Fprint(prompt, "token: ")
		raw, err = term.ReadPassword(int(file.Fd()))
		fmt.Fprintln(prompt)
	default:
		raw, err = io.ReadAll(io.LimitReader(in, 64<<10))
	}
	secret := strings.TrimSpace(string(raw))
	if err != nil || secret == "" {
		return "", failure.New(failure.Usage, "token").Because("there is none, or it can't be read").Wrap(err)
	}
	return secret, nil
}

func newAutonomyCommand() *cobra.Command {
	var flags hubFlags
	var agent, kind string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "autonomy [auto_approve|require_approval|deny|none]",
		Short: "Show or set how far agents go without being asked",
		Long: `autonomy shows how far a project's agents go without being asked, or sets it. Each of its rows is about one agent or all of
them, and one type of action or all of them.
The ceilings bind whatever is set: pushes, merges and what reaches the world from a terminal go on asking.

  auto_approve      run without a question what no rule holds back
  require_approval  ask a person, also about what the project's rules would allow
  deny              refuse
  none              take the row away, so that the project's rules decide`,
		Example: "  runner autonomy auto_approve --agent coder --type git_commit",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := flags.client()
			if err != nil {
				return err
			}
			project, err := flags.projectID(cmd.Context(), c)
			if err != nil {
				return err
			}
			rows, err := setOrShow(cmd, c, project, args, hub.Autonomy{Agent: agent, ActionType: kind})
			if err != nil || asJSON {
				return orJSON(cmd.OutOrStdout(), rows, err)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			for _, r := range rows {
				fmt.Fprintf(w, "%s\t%s\t%s\n", shown.Text(r.Agent), shown.Text(r.ActionType), shown.Text(fmt.Sprint(r.Mode)))
			}
			return orNone(cmd, w.Flush(), len(rows), "no row of autonomy is set, so the project's rules decide")
		},
	}
	flags.addProject(cmd.Flags())
	cmd.Flags().StringVar(&agent, "agent", "*", "which agent; * is every one")
	cmd.Flags().StringVar(&kind, "type", "*", "which type of action; * is every one")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON: the rows, as a list")
	return cmd
}

func setOrShow(cmd *cobra.Command, c *client.Client, project string, args []string, row hub.Autonomy) ([]hub.Autonomy, error) {
	if len(args) == 0 {
		return c.Autonomy(cmd.Context(), project)
	}
	if args[0] != "none" {
		row.Mode = policy.Verdict(args[0])
	}
	return c.SetAutonomy(cmd.Context(), project, row)
}
