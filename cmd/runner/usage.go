package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/shown"
)

// usageArgs makes what check refuses a usage error that says what would be right.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case check(cmd, args) == nil:
			return nil
		case cmd.HasSubCommands() && len(args) > 0:
			return unknownCommand(cmd, args[0])
		}
		given := "no argument was given"
		if len(args) > 0 {
			given = "it does not take these arguments: " + shown.Text(strings.Join(args, " "))
		}
		return usageError(failure.New(failure.Usage, strings.TrimPrefix(cmd.CommandPath(), "runner ")).Because("%s", given).
			Then("write `%s`; `%s --help` says more", useOf(cmd), cmd.CommandPath()))
	}
}

// useOf is how a command is written, as its help has it, without the word that stands for its flags.
func useOf(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.UseLine(), " [flags]", "") }

// pointToHelp names the command's own help where the failure of a wrong use says nothing better.
func pointToHelp(cmd *cobra.Command, err error) error {
	if f := failure.As(err); f != nil && f.Name == failure.Usage && f.Next == failure.New(failure.Usage, "").Next {
		f.Next = fmt.Sprintf("`%s --help` says more", cmd.CommandPath()) // in place, since err may wrap it
	}
	return err
}

func unknownCommand(cmd *cobra.Command, name string) error {
	text := fmt.Sprintf("there is no command %q", name)
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		text += fmt.Sprintf("; near it: %s", strings.Join(near, ", "))
	}
	return usageError(errors.New(text + "; see `" + cmd.CommandPath() + " --help`"))
}

// newHelpCommand stands in for cobra's, which shows the whole program's help, as a success, for a word that is no command.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND...]", Short: "Say more about a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(c, append(rest, args...)[0])
			}
			c.InitDefaultHelpFlag() // which a command gets when it runs, and the help lists it
			return c.Help()
		},
	}
}
