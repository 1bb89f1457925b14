//go:build unix

package exec

import (
	"strings"

	"brabo.dev/runner/runner/failure"
)

// bashPaths are the system's own places first, then those of package managers that root or an administrator owns.
func bashPaths() []string {
	return []string{
		"/bin/bash", "/usr/bin/bash", "/run/current-system/sw/bin/bash",
		"/usr/local/bin/bash", "/opt/homebrew/bin/bash",
	}
}

func systemShell() (Shell, error) { return shellFrom(bashPaths(), []string{"/bin/sh", "/usr/bin/sh"}) }

// shellFrom takes the first bash there is, else the first sh.
func shellFrom(bash, sh []string) (Shell, error) {
	if path, ok := firstProgram(bash); ok {
		return bashShell(path), nil
	}
	if path, ok := firstProgram(sh); ok {
		return Shell{Path: path, Args: []string{"-c"}}, nil
	}
	return Shell{}, failure.New(failure.ShellMissing, strings.Join(append(bash, sh...), ", "))
}
