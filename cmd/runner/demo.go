package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"
)

func newDemoCommand() *cobra.Command {
	var asJSON, interactive, verbose bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the whole loop on this machine, without server, account or configuration",
		Long: `demo starts a hub on a free loopback port and a daemon in a temporary project folder, and plays what a working day
brings: a command that a rule allows, one that waits for approval, one that is denied, failures, a deadline, a flood of
output, and a connection that is cut while a command runs. It exits 0 only if all went as told.

Nothing outside the temporary folder is touched, and the folder is removed at the end.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			log := slog.New(slog.DiscardHandler)
			if verbose {
				log = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
			}
			p := newPrinter(cmd.OutOrStdout(), asJSON)
			asked, stop := untilAlone(cmd.Context())
			defer stop()
			ctx, cancel := context.WithTimeout(asked, 5*time.Minute)
			defer cancel()
			s, err := openStage(ctx, log)
			if err != nil {
				return err
			}
			s.printer = p
			if interactive {
				s.ask = askPerson(cmd.InOrStdin(), cmd.ErrOrStderr())
			}
			ok := s.play(ctx)
			if err := s.close(); err != nil {
				return err
			}
			if asked.Err() != nil {
				return errors.New("stopped before the end")
			}
			if !ok {
				return &exitError{Code: exitFail, Err: errors.New("not everything went as told")}
			}
			p.end()
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a step")
	cmd.Flags().BoolVar(&interactive, "interactive", false, "ask on the terminal instead of approving by itself")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "show the log of hub and daemon on stderr")
	return cmd
}

// demoPermissions is the project's permissions.json: what the story needs, and a deny to run into.
const demoPermissions = `{
  "allow": [
    "Terminal(echo)",
    "Terminal(head)",
    "Terminal(ls)",
    "Terminal(sleep)",
    "Terminal(touch)",
    "Terminal(yes)"
  ],
  "deny": [
    "Terminal(curl)"
  ],
  "ask": []
}
`

// writePermissions writes the demonstration's rules into its project.
func writePermissions(path string) error { return os.WriteFile(path, []byte(demoPermissions), 0o600) }
