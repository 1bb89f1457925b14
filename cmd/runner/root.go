package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/failure"
)

// Exit codes that more than one command uses.
const (
	exitOK     = 0
	exitFail   = 1
	exitUsage  = 2
	exitLocked = 7 // another daemon has the state folder
)

// exitError carries the exit code of a command to main, with the error that the person sees; a nil Err has been
// shown already.
type exitError struct {
	Code int
	Err  error
}

func (e *exitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

func (e *exitError) Unwrap() error { return e.Err }

// usageError is wrong use of the command line: exit 2.
func usageError(err error) error { return &exitError{exitUsage, err} }

// execute runs one command line and gives its exit code. It is what main and the script tests call.
func execute(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	cmd, err := root.ExecuteContextC(ctx)
	return exitCode(pointToHelp(cmd, err), errOut)
}

// exitCode shows err where it has not been shown, and maps it to the exit code.
func exitCode(err error, errOut io.Writer) int {
	if err == nil {
		return exitOK
	}
	code := exitFail
	var ee *exitError
	if errors.As(err, &ee) {
		code, err = ee.Code, ee.Err
	} else if f := failure.As(err); f != nil {
		code = codeOf(f.Name)
	}
	if err != nil {
		fmt.Fprintf(errOut, "runner: %s\n", strings.Join(visibleLines(err.Error()), "\n")) // a server may have had its say in it
	}
	return code
}

// codeOf gives the failures that have an exit code of their own.
func codeOf(name failure.Name) int {
	switch name {
	case failure.Usage:
		return exitUsage
	case failure.StateLocked:
		return exitLocked
	}
	return exitFail
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "runner",
		Short:         "Run what people approved, on this machine, for AI agents",
		Long:          rootLong,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError(fmt.Errorf("%w; see `%s --help`", err, cmd.CommandPath()))
	})
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(newHelpCommand())
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"To begin with:", []*cobra.Command{newDemoCommand(), newUpCommand(), newDownCommand(), newDoctorCommand(), newStatusCommand()}},
		{"Deciding what runs:", []*cobra.Command{
			newPendingCommand(), newApproveCommand(), newDenyCommand(), newCancelCommand(), newConfirmCommand(),
			newPolicyCommand(), newAutonomyCommand(), newHistoryCommand(), newEventsCommand(),
		}},
		{"For agents:", []*cobra.Command{newProposeCommand(), newMCPCommand()}},
		{"Projects and people:", []*cobra.Command{
			newProjectCommand(), newAgentCommand(), newMemberCommand(), newCredentialCommand(), newTerminalCommand(),
		}},
		{"This machine:", []*cobra.Command{
			newRunCommand(), newHubCommand(), newServiceCommand(), newLoginCommand(), newLogoutCommand(), newWhoamiCommand(),
			newDeviceKeyCommand(), newConfigCommand(), newLogsCommand(),
		}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.title
		}
		root.AddCommand(g.commands...)
	}
	root.AddCommand(newVersionCommand(), newCompletionCommand(), newGitCredentialCommand(), newConfinedCommand())
	root.AddCommand(releaseCommands()...)
	return root
}

const rootLong = `runner is a local agent daemon. AI agents propose actions, people or their rules approve them, and runner
executes what was approved on this machine, and answers every action with a result or a named failure.

Start here: ` + "`runner demo`" + ` shows the whole loop without a server, an account or a configuration.`
