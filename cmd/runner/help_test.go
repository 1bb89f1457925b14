package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestEveryCommandHelpsAndRefuses asks each command for its help, and gives it a flag and words that it does not have.
func TestEveryCommandHelpsAndRefuses(t *testing.T) {
	inHome(t)
	each(newRootCommand(), func(c *cobra.Command) {
		words := strings.Fields(c.CommandPath())[1:]
		with := func(more ...string) []string { return append(append([]string{}, words...), more...) }
		code, out, errOut := runs(t, with("--help")...)
		if code != exitOK || errOut != "" || !strings.Contains(out, "Usage:\n  "+c.CommandPath()) || !strings.Contains(out, firstWords(c)) {
			t.Errorf("%s --help: exit %d: %s%s", c.CommandPath(), code, out, errOut)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(out, "--"+f.Name) {
				t.Errorf("the help of %s does not tell of --%s", c.CommandPath(), f.Name)
			}
		})
		code, out, errOut = runs(t, with("--no-such-flag")...)
		if code != exitUsage || out != "" || !strings.HasPrefix(errOut, "runner: ") {
			t.Errorf("%s --no-such-flag: exit %d: %s%s", c.CommandPath(), code, out, errOut)
		}
		if c.HasSubCommands() {
			code, out, errOut = runs(t, with("no-such-command")...)
			if code != exitUsage || out != "" || !strings.Contains(errOut, "no-such-command") {
				t.Errorf("%s no-such-command: exit %d: %s%s", c.CommandPath(), code, out, errOut)
			}
		}
	})
}

// each calls look for c and the commands below it that people see.
func each(c *cobra.Command, look func(*cobra.Command)) {
	if c.Hidden {
		return
	}
	look(c)
	for _, below := range c.Commands() {
		each(below, look)
	}
}

// firstWords is how the help of c begins.
func firstWords(c *cobra.Command) string {
	text := c.Long
	if text == "" {
		text = c.Short
	}
	words := strings.Fields(text)
	return strings.Join(words[:min(3, len(words))], " ")
}
