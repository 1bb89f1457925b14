package exec

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// Shell is the program that approved text runs under. The text is appended after Args, the last of which is "-c" or a
// cluster that ends in it.
type Shell struct {
	Path string
	Args []string
	Bash bool // reads the text as it was approved; others run plain POSIX only
}

// takesText tells whether the words end in the option that takes a program text.
var takesText = regexp.MustCompile(`^-[A-Za-z]*c$`)

// FindShell gives the shell that the words of the setting commands.shell name, or, where there are none, bash from a
// fixed list of system paths, else /bin/sh; never $SHELL, which may be zsh or fish and read the text differently.
// Failures: shell_invalid for words that name nothing that can be run, shell_missing where there is no shell.
func FindShell(words []string) (Shell, error) {
	if len(words) == 0 {
		return systemShell()
	}
	path, err := exec.LookPath(words[0])
	if err == nil && !filepath.IsAbs(path) {
		err = exec.ErrDot
	}
	if err != nil {
		return Shell{}, failure.New(failure.ShellInvalid, "commands.shell: "+words[0]).Wrap(err)
	}
	args := slices.Clone(words[1:])
	if len(args) == 0 || !takesText.MatchString(args[len(args)-1]) {
		args = append(args, "-c")
	}
	return Shell{Path: path, Args: args, Bash: isBash(path)}, nil
}

// isBash goes by the name: bash started under another name (sh) does not read text as bash does.
func isBash(path string) bool {
	name := strings.ToLower(filepath.Base(path))
	return strings.TrimSuffix(name, ".exe") == "bash"
}

// firstProgram is the first of paths that this user can run.
func firstProgram(paths []string) (string, bool) {
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			continue // a folder that the environment does not name
		}
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			continue
		}
		if _, err := exec.LookPath(path); err == nil {
			return path, true
		}
	}
	return "", false
}

// bashShell is bash as we start it when nobody said otherwise. Without --norc some builds read ~/.bashrc for a -c when
// the environment looks like a remote login.
func bashShell(path string) Shell {
	return Shell{Path: path, Args: []string{"--norc", "-c"}, Bash: true}
}

// words is the command line that runs text. A text in front of which a dash or plus stands would be taken for options,
// and mean something that nobody approved.
func (s Shell) words(text string) []string {
	words := append(append(make([]string, 0, len(s.Args)+3), s.Path), s.Args...)
	if strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") {
		words = append(words, "--")
	}
	return append(words, text)
}
