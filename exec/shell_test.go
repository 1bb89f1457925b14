//go:build unix

package exec

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// program makes a file that can be run.
func program(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFindShellIgnoresTheUsersShell(t *testing.T) {
	t.Setenv("SHELL", program(t, "zsh"))
	shell, err := FindShell(nil)
	if err != nil {
		t.Fatal(err)
	}
	if name := filepath.Base(shell.Path); name != "bash" && name != "sh" {
		t.Errorf("found %q", shell.Path)
	}
}

func TestFindShellTakesTheFirstBashElseSh(t *testing.T) {
	bash, sh := program(t, "bash"), program(t, "sh")
	for name, tc := range map[string]struct {
		bash, sh []string
		want     Shell
	}{
		"bash":                {[]string{"/no/bash", bash}, []string{sh}, Shell{bash, []string{"--norc", "-c"}, true}},
		"sh":                  {[]string{"/no/bash", t.TempDir()}, []string{sh}, Shell{sh, []string{"-c"}, false}},
		"not a relative path": {[]string{"bash"}, []string{sh}, Shell{sh, []string{"-c"}, false}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := shellFrom(tc.bash, tc.sh)
			if err != nil || got.Path != tc.want.Path || !slices.Equal(got.Args, tc.want.Args) || got.Bash != tc.want.Bash {
				t.Errorf("got %+v, %v; want %+v", got, err, tc.want)
			}
		})
	}
	_, err := shellFrom([]string{"/no/bash"}, []string{"/no/sh"})
	failuretest.Produced(t, err, failure.ShellMissing)
}

func TestFindShellThatIsConfigured(t *testing.T) {
	bash, zsh := program(t, "bash"), program(t, "zsh")
	t.Setenv("PATH", filepath.Dir(zsh))
	for _, tc := range []struct {
		words []string
		want  Shell
	}{
		{[]string{bash}, Shell{bash, []string{"-c"}, true}},
		{[]string{bash, "--posix", "-eu"}, Shell{bash, []string{"--posix", "-eu", "-c"}, true}},
		{[]string{bash, "-lc"}, Shell{bash, []string{"-lc"}, true}},
		{[]string{bash, "-o", "pipefail", "-ec"}, Shell{bash, []string{"-o", "pipefail", "-ec"}, true}},
		{[]string{zsh, "-f"}, Shell{zsh, []string{"-f", "-c"}, false}},
		{[]string{"zsh"}, Shell{zsh, []string{"-c"}, false}},
	} {
		got, err := FindShell(tc.words)
		if err != nil || got.Path != tc.want.Path || !slices.Equal(got.Args, tc.want.Args) || got.Bash != tc.want.Bash {
			t.Errorf("%q: got %+v, %v; want %+v", tc.words, got, err, tc.want)
		}
	}
	for _, words := range [][]string{{"/no/bash"}, {"no-such-shell"}, {t.TempDir()}, {""}} {
		_, err := FindShell(words)
		failuretest.Produced(t, err, failure.ShellInvalid)
	}
}
