package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/policy"
)

func newProposeTerminalCommand() *cobra.Command {
	var cwd string
	cmd := &cobra.Command{
		Use:   "terminal -- COMMAND [ARG...]",
		Short: "Propose a command",
		Long: `terminal proposes a command. One argument is read as Bash text; several are the words of one command and are quoted so
that each stays one word.`,
		Example: `  runner propose terminal --wait -- npm test
  runner propose terminal -- 'cd src && grep -rn TODO . | wc -l'`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
	}
	cmd.Flags().StringVar(&cwd, "cwd", "", "absolute folder to run in (default: the project's root)")
	return proposing(cmd, func(args []string) (hub.Proposal, error) {
		return hub.Proposal{Type: "terminal", Command: commandText(args), Cwd: cwd}, nil
	})
}

func newProposeWriteCommand() *cobra.Command {
	var from, expect, mode string
	cmd := &cobra.Command{
		Use:     "write-file PATH",
		Short:   "Propose the new content of a file",
		Example: "  runner propose write-file src/new.go --from /tmp/new.go",
		Args:    usageArgs(cobra.ExactArgs(1)),
	}
	f := cmd.Flags()
	f.StringVar(&from, "from", "-", "file with the content; - is the standard input")
	f.StringVar(&expect, "expect-sha256", "", "what the file must hold now, or none where there must be no file")
	f.StringVar(&mode, "mode", "", "0644 or 0755")
	return proposing(cmd, func(args []string) (hub.Proposal, error) {
		content, err := contentOf(from, cmd.InOrStdin())
		if err != nil {
			return hub.Proposal{}, err
		}
		params := map[string]any{"path": args[0]}
		if utf8.Valid(content) {
			params["content"] = string(content)
		} else {
			params["contentBase64"] = content
		}
		if expect == "none" {
			params["expectedSha256"] = nil
		} else if expect != "" {
			params["expectedSha256"] = expect
		}
		if mode != "" {
			params["mode"] = mode
		}
		return withParams("write_file", params)
	})
}

// maxContent is what write_file takes, in bytes (protocol.md section 12).
const maxContent = 4 << 20

func contentOf(path string, in io.Reader) ([]byte, error) {
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, failure.New(failure.Usage, "--from "+path).Because("the file can't be read: %v", err).Wrap(err)
		}
		defer file.Close()
		in = file
	}
	content, err := io.ReadAll(io.LimitReader(in, maxContent+1))
	if err != nil || len(content) > maxContent {
		return nil, failure.New(failure.Usage, "--from "+path).Because("it can't be read, or has more than %d bytes", maxContent).Wrap(err)
	}
	return content, nil
}

func newProposeCommitCommand() *cobra.Command {
	var message string
	cmd := &cobra.Command{
		Use: "git-commit -m MESSAGE [PATH...]", Short: "Propose a commit",
		Long: "git-commit proposes to commit the paths, or, without any, everything that changed and is not ignored.",
		Args: cobra.ArbitraryArgs,
	}
	cmd.Flags().StringVarP(&message, "message", "m", "", "the commit message")
	return proposing(cmd, func(args []string) (hub.Proposal, error) {
		params := map[string]any{"message": message}
		if len(args) > 0 {
			params["paths"] = args
		}
		return withParams("git_commit", params)
	})
}

func newProposeBranchCommand() *cobra.Command {
	var from string
	cmd := &cobra.Command{Use: "git-branch NAME", Short: "Propose a new branch", Args: usageArgs(cobra.ExactArgs(1))}
	cmd.Flags().StringVar(&from, "from", "", "where it begins (default: the current commit)")
	return proposing(cmd, func(args []string) (hub.Proposal, error) {
		params := map[string]any{"name": args[0]}
		if from != "" {
			params["from"] = from
		}
		return withParams("git_branch_create", params)
	})
}

func newProposePushCommand() *cobra.Command {
	var remote string
	var upstream bool
	cmd := &cobra.Command{Use: "git-push BRANCH", Short: "Propose to push one branch", Args: usageArgs(cobra.ExactArgs(1))}
	cmd.Flags().StringVar(&remote, "remote", "origin", "where to")
	cmd.Flags().BoolVar(&upstream, "set-upstream", false, "have the branch follow the remote one")
	return proposing(cmd, func(args []string) (hub.Proposal, error) {
		return withParams("git_push", map[string]any{"branch": args[0], "remote": remote, "setUpstream": upstream})
	})
}

func newProposeStartCommand() *cobra.Command {
	spec := hub.ContainerSpec{}
	var cpus, memory float64
	var pids int64
	cmd := &cobra.Command{
		Use: "container-start IMAGE", Short: "Propose to start the project's container", Args: usageArgs(cobra.ExactArgs(1)),
		Example: "  runner propose container-start --wait node:22.4",
	}
	f := cmd.Flags()
	f.StringVar(&spec.Network, "network", "none", "none or egress")
	f.Float64Var(&cpus, "cpus", 0, "processors (default: the least that the project needs)")
	f.Float64Var(&memory, "memory-mb", 0, "MiB (default: the least that the project needs)")
	f.Int64Var(&pids, "pids", 0, "processes (default: the least that the project needs)")
	return proposing(cmd, func(args []string) (hub.Proposal, error) {
		spec.Image = args[0]
		if cpus > 0 {
			spec.CPUs = &cpus
		}
		if memory > 0 {
			spec.MemoryMiB = &memory
		}
		if pids > 0 {
			spec.Pids = &pids
		}
		return hub.Proposal{Type: "container_start", Container: &spec}, nil
	})
}

// newProposePlainCommand proposes a type that takes nothing.
func newProposePlainCommand(use, kind, short string) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: usageArgs(cobra.NoArgs)}
	return proposing(cmd, func([]string) (hub.Proposal, error) { return hub.Proposal{Type: kind}, nil })
}

func newProposeOtherCommand() *cobra.Command {
	var params string
	cmd := &cobra.Command{
		Use:   "other TYPE",
		Short: "Propose an action of any type, with its parameters as JSON",
		Long: `other proposes an action of any type. Of those that no machine executes the proposer reports the outcome itself, with
POST /actions/{id}/outcome.

The types:` + typesText(),
		Example: `  runner propose other pr_open --params '{"title":"Add search"}'`,
		Args:    usageArgs(cobra.ExactArgs(1)),
	}
	cmd.Flags().StringVar(&params, "params", "{}", "an object")
	return proposing(cmd, func(args []string) (hub.Proposal, error) {
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(params), &object); err != nil || object == nil {
			return hub.Proposal{}, failure.New(failure.Usage, "--params").Because("it is no JSON object").Wrap(err)
		}
		return hub.Proposal{Type: args[0], Params: json.RawMessage(params)}, nil
	})
}

// typesText lists the types of actions, some on a line.
func typesText() string {
	var b strings.Builder
	for i, t := range policy.Types() {
		if i%5 == 0 {
			b.WriteString("\n ")
		}
		b.WriteString(" " + t.Type)
	}
	return b.String()
}

func withParams(kind string, params map[string]any) (hub.Proposal, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return hub.Proposal{}, fmt.Errorf("writing the parameters: %w", err)
	}
	return hub.Proposal{Type: kind, Params: raw}, nil
}
