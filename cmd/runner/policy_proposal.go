package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/policy"
)

const proposalHelp = `COMMAND is shell text in one argument, or the words of one command. Nothing is run.

Without flags the question is the hardest one: a developer's agent for which nothing is configured, no entries, and an
unknown scope, which neither tightens nor loosens. --scope reads the permissions.json in that folder, unless
--permissions names another.`

// proposalFlags are what a decision looks at beside the command.
type proposalFlags struct {
	permissions, scope, cwd string
	alsoInside              []string
	role, autonomy          string
	container               bool
}

func (f *proposalFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.permissions, "permissions", "", "decide by this permissions.json (default: the one in --scope)")
	cmd.Flags().StringVar(&f.scope, "scope", "", "the project's folder (default: unknown)")
	cmd.Flags().StringArrayVar(&f.alsoInside, "also-inside", nil, "a folder that counts as inside too; may be given again")
	cmd.Flags().StringVar(&f.cwd, "cwd", "", "where the command would run (default: the project's folder)")
	cmd.Flags().StringVar(&f.role, "role", string(policy.Developer), "viewer, developer, maintainer, owner or none")
	cmd.Flags().StringVar(&f.autonomy, "autonomy", "", "MODE[:ORIGIN]: auto_approve, require_approval or deny; specific (default) or wildcard")
	cmd.Flags().BoolVar(&f.container, "container", false, "the project's container is running")
}

// proposal is what the flags and arguments propose.
func (f *proposalFlags) proposal(cmd *cobra.Command, args []string) (p policy.Proposal, err error) {
	if len(args) == 0 {
		return p, usageError(errors.New("give a COMMAND behind --"))
	}
	p.Action = policy.Action{Type: "terminal", Command: commandText(args)}
	if p.Role, err = parseRole(f.role); err != nil {
		return p, usageError(err)
	}
	if p.Autonomy, err = parseAutonomy(f.autonomy); err != nil {
		return p, usageError(err)
	}
	p.Context.ContainerRunning = f.container
	if p.Context.ScopeRoot, err = absolute(f.scope); err != nil {
		return p, err
	}
	if p.Action.Cwd, err = absolute(f.cwd); err != nil {
		return p, err
	}
	for _, dir := range f.alsoInside {
		if dir, err = absolute(dir); err != nil {
			return p, err
		}
		p.Context.AlsoInside = append(p.Context.AlsoInside, dir)
	}
	path := f.permissions
	switch {
	case path == "" && f.scope == "":
		return p, nil
	case path == "":
		path = filepath.Join(f.scope, policy.FileName)
	default:
		if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
			fmt.Fprintf(cmd.ErrOrStderr(), "runner: %s does not exist, which counts as three empty lists\n", visible(path))
		}
	}
	file, err := policy.Load(path)
	p.Permissions = file.Permissions
	return p, err
}

// absolute makes a folder absolute as a shell's user means it. What is absolute stays as it was written: the policy
// itself judges a path with dots in it.
func absolute(dir string) (string, error) {
	if dir == "" || filepath.IsAbs(dir) {
		return dir, nil
	}
	return filepath.Abs(dir)
}

func parseRole(text string) (policy.Role, error) {
	switch role := policy.Role(text); role {
	case policy.Viewer, policy.Developer, policy.Maintainer, policy.Owner:
		return role, nil
	case "none", "":
		return "", nil
	}
	return "", fmt.Errorf("there is no role %q: viewer, developer, maintainer, owner or none", text)
}

func parseAutonomy(text string) (policy.Autonomy, error) {
	mode, origin, hasOrigin := strings.Cut(text, ":")
	switch policy.Verdict(mode) {
	case policy.AutoApprove, policy.RequireApproval, policy.Deny:
	case "", "none":
		if !hasOrigin {
			return policy.Autonomy{}, nil
		}
		fallthrough
	default:
		return policy.Autonomy{}, fmt.Errorf("there is no autonomy %q: auto_approve, require_approval or deny", mode)
	}
	if hasOrigin && origin != "specific" && origin != "wildcard" {
		return policy.Autonomy{}, fmt.Errorf("autonomy has no origin %q: specific or wildcard", origin)
	}
	return policy.Autonomy{Mode: policy.Verdict(mode), Origin: origin}, nil
}

// commandText is the text that args stand for: one is shell text already, several are words that a shell has taken
// the quotes off.
func commandText(args []string) string {
	if len(args) == 1 {
		return args[0]
	}
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = shellWord(a)
	}
	return strings.Join(words, " ")
}

// shellWord quotes a word where it needs it. NAME=value stays an assignment.
func shellWord(word string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
