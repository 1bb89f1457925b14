//go:build manual

package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// releaseCommands are those that only the making of packages needs: the pages of the manual, from the commands
// themselves. The product is built without.
func releaseCommands() []*cobra.Command {
	var when int64
	cmd := &cobra.Command{
		Use:    "manual FOLDER",
		Hidden: true,
		Args:   usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			date := time.Unix(when, 0).UTC()
			root := cmd.Root()
			root.DisableAutoGenTag = true
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &date, Source: "runner " + version, Manual: "Runner"}, args[0])
		},
	}
	cmd.Flags().Int64Var(&when, "date", 0, "date of the pages, in seconds since 1970")
	return []*cobra.Command{cmd}
}
