package main

import (
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/settings"
)

func newConfigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and change settings",
		Long: `config shows every setting with the value in force and where that came from: a flag, a variable, the settings file,
the pairing or the default, in this order of strength. A running daemon reads its settings when it starts.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	cmd.AddCommand(newConfigShowCommand(), newConfigGetCommand(), newConfigSetCommand(), newConfigPathCommand(), newConfigValidateCommand())
	return cmd
}

// loadSettings reads the settings of this process; what is wrong with them is wrong use.
func loadSettings() (settings.Settings, settings.Sources, error) {
	src, err := processSources()
	if err != nil {
		return settings.Settings{}, src, err
	}
	values, err := settings.Load(src)
	if err != nil {
		return settings.Settings{}, src, usageError(err)
	}
	return values, src, nil
}

func newConfigShowCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show every setting, its value and where that came from",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			values, _, err := loadSettings()
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), values.Values())
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			for _, v := range values.Values() {
				fmt.Fprintf(w, "%s\t%s\t%s\n", v.Name, visible(v.Text), visible(v.From))
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON: a list of name, value and origin")
	return cmd
}

func newConfigGetCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "get NAME",
		Short:   "Show one setting's value",
		Example: "  runner config get commands.deadline",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			values, _, err := loadSettings()
			if err != nil {
				return err
			}
			v, err := values.Find(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), visible(v.Text))
			return err
		},
	}
}

func newConfigSetCommand() *cobra.Command {
	var byDefault bool
	cmd := &cobra.Command{
		Use:   "set NAME VALUE",
		Short: "Write a setting into the settings file",
		Long: `set writes one value into the settings file and leaves the others alone. Durations are like 14s or 2d, sizes like
16MiB, lists and objects are JSON. With --default and no value the setting is taken out of the file.`,
		Example: `  runner config set commands.deadline 30s
  runner config set commands.environment '{"CI":"1"}'
  runner config set --default commands.deadline`,
		Args: usageArgs(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			src, err := processSources()
			if err != nil {
				return err
			}
			var text *string
			switch {
			case len(args) == 2 && !byDefault:
				text = &args[1]
			case len(args) == 2 || !byDefault:
				return usageError(failure.New(failure.Usage, "config set").Because("it takes a value, or --default and none"))
			}
			if err := settings.Set(src, args[0], text); err != nil {
				return usageError(err)
			}
			if _, err := settings.Load(src); err != nil { // one that wants another beside it, or what was wrong before
				fmt.Fprintf(cmd.ErrOrStderr(), "runner: written; nothing starts with these settings yet: %s\n", visible(err.Error()))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&byDefault, "default", false, "take the setting out of the file")
	return cmd
}

// place is a file or folder of ours.
type place struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

func newConfigPathCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "path",
		Short: "Show where the settings file and our other files lie",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			src, err := processSources()
			if err != nil {
				return err
			}
			f := src.Folders()
			places := []place{
				{"settings", src.ConfigPath()}, {"config", f.Config}, {"state", f.State}, {"data", f.Data}, {"cache", f.Cache},
				{"runtime", f.Runtime}, {"log", logFolder(f.State)}, {"output", filepath.Join(f.State, "output")},
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), places)
			}
			for _, p := range places {
				fmt.Fprintf(cmd.OutOrStdout(), "%-9s %s\n", p.Name, visible(p.Path))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON: a list of name and path")
	return cmd
}

func newConfigValidateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "validate [FILE]",
		Short: "Check a settings file, or the settings in force",
		Args:  usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			src, err := processSources()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				src = settings.Sources{ConfigFile: args[0], WorkDir: src.WorkDir}
			}
			if _, err := settings.Load(src); err != nil {
				return usageError(err)
			}
			for _, m := range src.Misspelt() {
				fmt.Fprintf(cmd.ErrOrStderr(), "runner: warning: %s is set and means nothing; did you mean %s?\n", m.Variable, m.Meant)
			}
			path := src.ConfigPath()
			if _, err := os.Stat(path); err != nil {
				path += " (not there: the defaults count)"
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "good:", visible(path))
			return err
		},
	}
}
