package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// orNone is err, and says that a list for people holds nothing, which could be taken for a command that does not work.
// It says so beside the data, which stays empty for the next program of a pipe.
func orNone(cmd *cobra.Command, err error, length int, text string) error {
	if err == nil && length == 0 {
		_, err = fmt.Fprintln(cmd.ErrOrStderr(), text)
	}
	return err
}
