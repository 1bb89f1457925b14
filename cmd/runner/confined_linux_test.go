package main

import (
	"context"
	"os"
	"testing"

	"brabo.dev/runner/exec"
)

// Needs bash: this program between puts the bounds on, and hands every word on as it is.
func TestConfinedBecomesItsProgram(t *testing.T) {
	shell, err := exec.FindShell(nil)
	if err != nil || !shell.Bash {
		if os.Getenv("RUNNER_TEST_REQUIRE") == "1" {
			t.Fatal("bash is missing")
		}
		t.Skip("bash is missing")
	}
	r := exec.Run(context.Background(), exec.Command{
		Text: `ulimit -n; ulimit -c; echo "$BASH_EXECUTION_STRING" --help confined -h | tail -c 20`, Shell: shell,
		Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH"), asCommand + "=1"}, ResultLimit: 1024,
		Bounds: exec.Bounds{Limits: exec.Limits{OpenFiles: 64}, Helper: []string{os.Args[0], confinedName}},
	})
	if r.Failure != nil || r.Output != "64\n0\n --help confined -h\n" {
		t.Errorf("%d, %q, %v", r.ExitCode, r.Output, r.Failure)
	}
}
