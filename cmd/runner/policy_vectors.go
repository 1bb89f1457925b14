package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/policy"
)

func newPolicyTestCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "test FILE...",
		Short: "Run test vectors",
		Long: `Run files of test vectors, one JSON object a line, of either shape:

  {"id", "pattern", "command", "match"}
  {"id", "action", "role", "autonomy", "permissions", "context", "expect": {"policy", "rule"}}

Each failure is a line, and the last line is "N passed, N failed". Exits with 1 where one failed.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError(errors.New("give at least one FILE of vectors"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			files := make([][]policy.Vector, len(args))
			for i, path := range args { // all are read before the first runs
				var err error
				if files[i], err = readVectorFile(path); err != nil {
					return err
				}
			}
			passed, failed := 0, 0
			for i, vectors := range files {
				for _, v := range vectors {
					wrong := v.Check()
					if wrong == "" {
						passed++
						continue
					}
					failed++
					fmt.Fprintf(cmd.OutOrStdout(), "%s:%d: %s: %s\n", args[i], v.Line, visible(v.ID), visible(wrong))
				}
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d passed, %d failed\n", passed, failed)
			if failed > 0 {
				return &exitError{Code: exitFail}
			}
			return nil
		},
	}
}

func readVectorFile(path string) ([]policy.Vector, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, failure.New(failure.VectorFileInvalid, path).Because("it can't be read").Then("check the path").Wrap(err)
	}
	defer f.Close()
	return policy.ReadVectors(path, f)
}
