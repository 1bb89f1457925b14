// Package git runs git for people's projects without letting a project's own files decide what is run.
//
// A repository's configuration can name programs for git to run and other places for it to talk to, and whoever writes
// into a project writes into that file, too. So git never reads it here. It is read first, as a text: a key that would
// make an action mean something else refuses the action by name, and of the rest the allow list of protocol.md 12 is
// written into a small folder of our own, which stands in for the repository's (GIT_COMMON_DIR). What the person has
// configured for all repositories counts as ever.
//
// A credential reaches git through a helper of ours alone, see Answer: never through an argument, an address, a file
// or a log.
//
// The package starts no goroutines beside those of the running program, which Process waits for.
package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// Git is git on this machine and the terms under which it runs. It may be used by many goroutines.
type Git struct {
	// Program is git itself; empty: `git`, looked for in PATH.
	Program string
	// Env is what git inherits, as an environment is listed. Names of git's own and of ours are left out of it.
	Env []string
	// Run runs a program; nil: Process.
	Run Run
	// Helper are the words that start our credential helper, to which git adds the operation. Its end of the matter is
	// Answer. Without it no credential is handed over.
	Helper []string
	// Protocols are those that may be spoken, by git's names (settings.md, `git.protocols`); none: https and ssh.
	Protocols []string
	// Hooks has the repository's hooks run (settings.md, `git.hooks`).
	Hooks bool
	// Keys are the names of files that hold a key of this machine, in whatever case: none is ever committed.
	Keys []string
	// Scratch is where the folders of our own are made; empty: the system's temporary folder.
	Scratch string
}

// Place is where an action works.
type Place struct {
	// Cwd is an absolute folder that the caller has confined to the project.
	Cwd string
	// Roots bound the search for the repository: it lies at Cwd or above it, at one of them at most. The project's root,
	// and what counts as inside beside it.
	Roots []string
}

// program is git's path.
func (g Git) program() (string, error) {
	path, err := findProgram(g.Program, "git", g.Env)
	if err != nil {
		return "", failure.New(failure.GitMissing, "git").Wrap(err)
	}
	return path, nil
}

// environment is what git's process gets, extra winning.
func (g Git) environment(extra ...string) []string {
	env := make([]string, 0, len(g.Env)+len(extra)+12)
	for _, pair := range g.Env {
		if name, _, _ := strings.Cut(pair, "="); !ours(name) {
			env = append(env, pair)
		}
	}
	env = append(env,
		"LC_ALL=C", "LANGUAGE=", // git's words are read below
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "GCM_INTERACTIVE=never", "SSH_ASKPASS_REQUIRE=never",
		"GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true", "GIT_PAGER=cat",
		"GIT_LITERAL_PATHSPECS=1", "GIT_ALLOW_PROTOCOL="+strings.Join(g.protocols(), ":"))
	return append(env, extra...)
}

// ours reports whether a variable is git's or the runner's own, or one that this package sets.
func ours(name string) bool {
	name = strings.ToUpper(name)
	return strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "BRABO_") || strings.HasPrefix(name, "RUNNER_") ||
		slices.Contains([]string{"LC_ALL", "LANGUAGE", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "GCM_INTERACTIVE"}, name)
}

func (g Git) protocols() []string {
	if len(g.Protocols) == 0 {
		return []string{"https", "ssh"}
	}
	return g.Protocols
}

// settings are the values that hold whatever anybody has configured.
func (g Git) settings() []string {
	args := []string{
		"-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"-c", "submodule.recurse=false", "-c", "push.recurseSubmodules=no", "-c", "fetch.recurseSubmodules=no",
		"-c", "diff.ignoreSubmodules=dirty", "-c", "safe.bareRepository=explicit", "-c", "advice.defaultBranchName=false",
		"-c", "core.safecrlf=false",
	}
	if !g.Hooks {
		args = append(args, "-c", "core.hooksPath="+os.DevNull)
	}
	return args
}

// call is one run of git.
type call struct {
	dir   string
	args  []string
	env   []string
	stdin []byte
	lines func(line string)
	limit int
}

// run runs git and gives its output. What git itself refuses is no error here: the exit code says so.
func (g Git) run(ctx context.Context, c call) (Output, error) {
	program, err := g.program()
	if err != nil {
		return Output{}, err
	}
	run := g.Run
	if run == nil {
		run = Process
	}
	out, err := run(ctx, Command{
		Program: program, Args: append(g.settings(), c.args...), Dir: c.dir, Env: g.environment(c.env...),
		Stdin: c.stdin, Lines: c.lines, Limit: c.limit,
	})
	if name := endedBy(ctx, err); name != "" {
		return out, failure.New(name, about(c.args)).Wrap(err)
	}
	if err != nil {
		return out, failure.New(failure.GitFailed, about(c.args)).Because("it could not be run: %v", err).Wrap(err)
	}
	return out, nil
}

// scratch makes a new folder of our own.
func (g Git) scratch() (string, error) {
	dir, err := os.MkdirTemp(g.Scratch, "runner-git-")
	if err != nil {
		return "", failure.New(failure.GitFailed, "a folder of our own for git").
			Because("it could not be made: %v", err).Then("look at the temporary folder, and at free space").Wrap(err)
	}
	return filepath.EvalSymlinks(dir)
}

// about names a run of git for people.
func about(args []string) string {
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") && (i == 0 || args[i-1] != "-c") {
			return "git " + arg
		}
	}
	return "git"
}
