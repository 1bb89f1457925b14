package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/hub/client"
)

func newTerminalCommand() *cobra.Command {
	var flags hubFlags
	cmd := &cobra.Command{
		Use:   "terminal PROJECT",
		Short: "Open a terminal in a project's folder, or in its running container",
		Long: `terminal opens a shell where the project's daemon runs, and ends with it and with its exit code. What is typed goes to
the shell, Ctrl-C too; leaving it ends all that it started. A developer of the project may open one. The project is told by
its id or its name.`,
		Example: "  runner terminal shop",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, isFile := cmd.InOrStdin().(*os.File)
			if !isFile || !term.IsTerminal(int(in.Fd())) {
				return usageError(failure.New(failure.Usage, "terminal").Because("the standard input is no terminal").
					Then("to run one command, propose it by `runner propose`"))
			}
			c, err := flags.client()
			if err != nil {
				return err
			}
			flags.project = args[0]
			id, err := flags.projectID(cmd.Context(), c)
			if err != nil {
				return err
			}
			ctx, stop := untilHungUp(cmd.Context())
			defer stop()
			exit, err := attend(ctx, c, id, in, cmd.OutOrStdout())
			if err != nil {
				return err
			}
			return exitLike(exit, cmd.ErrOrStderr())
		},
	}
	flags.add(cmd.Flags())
	return cmd
}

// attend puts in, which is a terminal, into raw mode, and is the way between it and a terminal of the project until that
// ends or ctx does. in is as it was before when attend returns, whatever happened.
func attend(ctx context.Context, c *client.Client, projectID string, in *os.File, out io.Writer) (_ hub.TerminalExit, err error) {
	fd := int(in.Fd())
	t, err := c.Terminal(ctx, projectID, sizeOf(fd))
	if err != nil {
		return hub.TerminalExit{}, err
	}
	defer t.Close()
	before, err := term.MakeRaw(fd)
	if err != nil {
		return hub.TerminalExit{}, fmt.Errorf("putting the terminal into raw mode: %w", err)
	}
	defer func() { err = errors.Join(err, term.Restore(fd, before)) }()
	defer understandSequences(out)()
	defer context.AfterFunc(ctx, func() { t.Close() })()
	resized, unwatch := watchSize(fd)
	watched := make(chan struct{})
	defer func() { t.Close(); unwatch(); <-watched }()
	go func() {
		defer close(watched)
		for range resized {
			if t.Resize(sizeOf(fd)) != nil {
				return
			}
		}
	}()
	// Nothing can end the reading of a terminal: this goroutine ends with its next key, or with the process.
	go func() { _, _ = io.Copy(t, in) }()
	exit, err := t.Show(out)
	if ctx.Err() != nil {
		err = failure.New(failure.Cancelled, "terminal")
	}
	return exit, err
}

func sizeOf(fd int) hub.TerminalSize {
	cols, rows, err := term.GetSize(fd)
	if err != nil || cols == 0 || rows == 0 {
		return hub.TerminalSize{Cols: 80, Rows: 24}
	}
	return hub.TerminalSize{Cols: cols, Rows: rows}
}

// exitLike ends as the shell did.
func exitLike(exit hub.TerminalExit, errOut io.Writer) error {
	switch {
	case exit.Signal != "":
		fmt.Fprintf(errOut, "runner: the shell was ended by %s\n", visible(exit.Signal))
		return &exitError{Code: signalCode(exit.Signal)}
	case exit.ExitCode != nil && *exit.ExitCode != 0:
		return &exitError{Code: *exit.ExitCode}
	}
	return nil
}
