package main

import (
	"os"

	"github.com/spf13/cobra"

	"brabo.dev/runner/exec"
)

// confinedName is the command by which this program puts bounds on itself and becomes an action's shell.
const confinedName = "confined"

func newConfinedCommand() *cobra.Command {
	return &cobra.Command{
		Use: confinedName + " ORDER PATH ARGUMENT...", Hidden: true, Short: "Become a program that is held inside bounds",
		DisableFlagParsing: true, // what looks like a flag is the program's
		RunE: func(_ *cobra.Command, args []string) error {
			return &exitError{Code: exec.Become(args)}
		},
	}
}

// boundsHelper is how this program starts itself for that. The link leads to what runs now, also after an update.
func boundsHelper() []string {
	if _, err := os.Stat("/proc/self/exe"); err == nil {
		return []string{"/proc/self/exe", confinedName}
	}
	binary, err := os.Executable()
	if err != nil {
		return nil // nothing that needs bounds starts then, and says so
	}
	return []string{binary, confinedName}
}
