package main

import (
	"context"
	"fmt"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/hub/client"
	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/runner/shown"
)

func newProjectCommand() *cobra.Command {
	cmd := nounCommand("project", "Look after the hub's projects", `A project is a folder on this machine in which agents may work, under the rules of the permissions.json in it.`)
	cmd.AddCommand(newProjectAddCommand(), newProjectListCommand(), newProjectRemoveCommand(), newProjectActivateCommand(), newProjectSetCommand())
	return cmd
}

// nounCommand is a command that only has others below it.
func nounCommand(use, short, long string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: long, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
}

func newProjectAddCommand() *cobra.Command {
	var flags hubFlags
	var name, mode string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "add DIR",
		Short: "Make a project of a folder",
		Long: `add tells the hub of a folder, and this machine's daemon that the folder is meant: a server's word alone gives a project
no folder here. In mode container the hub keeps the folder itself, and no DIR is given.`,
		Example: "  runner project add .",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			spec := hub.ProjectSpec{Name: name, Mode: hub.Mode(mode)}
			if len(args) == 1 {
				root, err := filepath.Abs(args[0])
				if err != nil {
					return fmt.Errorf("finding %s: %w", args[0], err)
				}
				spec.Root = root
			}
			c, err := flags.client()
			if err != nil {
				return err
			}
			p, err := c.AddProject(cmd.Context(), spec)
			if err != nil {
				return err
			}
			if err := confirmHere(cmd.Context(), p); err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), p)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s  %s  %s\n", shown.Text(p.ID), shown.Text(p.Name), shown.Text(p.Root))
			return nil
		},
	}
	flags.add(cmd.Flags())
	cmd.Flags().StringVar(&name, "name", "", "for people (default: the folder's name)")
	cmd.Flags().StringVar(&mode, "mode", "", "mounted, runner or container (default: mounted)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the project as JSON")
	return cmd
}

// confirmHere writes down on this machine that the project has this folder, and which folders count as inside.
func confirmHere(ctx context.Context, p client.Project) error {
	return changeHere(ctx, func(here pairing.LocalProjects) {
		here[p.ID] = pairing.LocalProject{Root: p.Root, AlsoInside: p.AlsoInside}
	})
}

// changeHere changes what this machine says of the hub's projects, and has its daemon look at once.
func changeHere(ctx context.Context, change func(pairing.LocalProjects)) error {
	src, err := processSources()
	if err != nil {
		return err
	}
	folder := src.Folders().Config
	here, err := pairing.ReadLocalProjects(folder)
	if err != nil {
		return err
	}
	change(here)
	if err := here.Write(folder); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	// Where no daemon runs, or it can't be told, it finds out by itself, at its start or within a minute.
	_ = control.NewClient(src.Folders().State).LookAgain(ctx)
	return nil
}

func newProjectListCommand() *cobra.Command {
	var flags hubFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the projects", Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := flags.client()
			if err != nil {
				return err
			}
			projects, err := c.Projects(cmd.Context())
			if err != nil || asJSON {
				return orJSON(cmd.OutOrStdout(), projects, err)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			for _, p := range projects {
				state := "no daemon"
				if p.Connected {
					state = "served"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", shown.Text(p.ID), shown.Text(p.Name), shown.Text(string(p.Mode)), state, shown.Text(p.Root))
			}
			return orNone(cmd, w.Flush(), len(projects), "no project yet: `runner project add DIR` adds one")
		},
	}
	flags.add(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON: a list")
	return cmd
}

// named has run called with the project that is named by its id or name.
func (f *hubFlags) named(ctx context.Context, wanted string, run func(*client.Client, string) error) error {
	c, err := f.client()
	if err != nil {
		return err
	}
	projects, err := c.Projects(ctx)
	if err != nil {
		return err
	}
	id, err := whichProject(projects, wanted, "")
	if err != nil {
		return err
	}
	return run(c, id)
}

func newProjectRemoveCommand() *cobra.Command {
	var flags hubFlags
	cmd := &cobra.Command{
		Use: "remove PROJECT", Short: "Forget a project; its folder and its log stay", Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.named(cmd.Context(), args[0], func(c *client.Client, id string) error {
				if err := c.RemoveProject(cmd.Context(), id); err != nil {
					return err
				}
				return changeHere(cmd.Context(), func(here pairing.LocalProjects) { delete(here, id) })
			})
		},
	}
	flags.add(cmd.Flags())
	return cmd
}

func newProjectActivateCommand() *cobra.Command {
	var flags hubFlags
	cmd := &cobra.Command{
		Use:   "activate PROJECT",
		Short: "Let an ordinary working day pass without questions",
		Long: `activate writes the usual patterns of reading, building and testing into the project's permissions.json (runner policy
seed prints them), and lets the agents called dev-… commit. What is there already stays.`,
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.named(cmd.Context(), args[0], func(c *client.Client, id string) error {
				a, err := c.Activate(cmd.Context(), id)
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%d patterns and %d rows of autonomy were written\n", len(a.Patterns), len(a.Autonomy))
				return nil
			})
		},
	}
	flags.add(cmd.Flags())
	return cmd
}

func newProjectSetCommand() *cobra.Command {
	var flags hubFlags
	cmd := &cobra.Command{
		Use:   "set PROJECT SETTING [VALUE...]",
		Short: "Change a project",
		Long: `set changes one setting of a project. also_inside takes absolute folders that count as inside beside the root, for
scratch folders and work trees; without any there are none. name takes one name.`,
		Example: "  runner project set shop also_inside /tmp/shop-scratch",
		Args:    usageArgs(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			var change hub.ProjectChange
			values := append([]string{}, args[2:]...)
			switch {
			case args[1] == "also_inside":
				change.AlsoInside = &values
			case args[1] == "name" && len(values) == 1:
				change.Name = &values[0]
			default:
				return usageError(failure.New(failure.Usage, "project set "+args[1]).Because("the settings are also_inside, which takes folders, and name, which takes one"))
			}
			return flags.named(cmd.Context(), args[0], func(c *client.Client, id string) error {
				p, err := c.ChangeProject(cmd.Context(), id, change)
				if err != nil {
					return err
				}
				return confirmHere(cmd.Context(), p)
			})
		},
	}
	flags.add(cmd.Flags())
	return cmd
}
