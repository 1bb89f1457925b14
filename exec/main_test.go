package exec

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// noReaper is the variable under which these tests run in a process that is no reaper.
const noReaper = "EXEC_TEST_NO_REAPER"

// Under these words the test binary is the program between, one that tries what no shell can, one that gives Landlock up
// and goes on as a test, a program between that does not end, and who sees to that.
const asBetween, asAttacker, asWithoutLandlock, asHeld, asTracer = "confined", "attack", "without-landlock", "held", "tracer"

// noLandlock is the variable under which a test runs where the kernel has no Landlock.
const noLandlock = "EXEC_TEST_NO_LANDLOCK"

// doomed is the variable under which the test binary is a daemon that runs the command in it until it is killed.
const doomed = "EXEC_TEST_DOOMED"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asBetween {
		os.Exit(Become(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == asAttacker {
		os.Exit(attack(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == asHeld {
		os.Exit(heldBetween(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == asTracer {
		os.Exit(tracer(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == asWithoutLandlock {
		os.Exit(withoutLandlock(os.Args[2:]))
	}
	if text := os.Getenv(doomed); text != "" {
		doomedDaemon(text)
	}
	if os.Getenv(noReaper) == "" {
		if err := BecomeSubreaper(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}

// systemBash is the machine's bash.
func systemBash(t testing.TB) Shell {
	t.Helper()
	shell, err := FindShell(nil)
	if err != nil || !shell.Bash {
		missing(t, "bash")
	}
	return shell
}

// missing skips a test that needs component, or fails it where everything has to be there.
func missing(t testing.TB, component string) {
	t.Helper()
	if os.Getenv("RUNNER_TEST_REQUIRE") == "1" {
		t.Fatalf("%s is missing", component)
	}
	t.Skipf("%s is missing", component)
}

// command is text under the machine's bash in a new folder, with a plain environment.
func command(t testing.TB, text string) Command {
	t.Helper()
	env, err := Environment([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Command{Text: text, Shell: systemBash(t), Dir: t.TempDir(), Env: env, ResultLimit: 32768}
}

// must runs c, which has to end with code and output.
func must(t testing.TB, c Command, code int, output string) Result {
	t.Helper()
	res := Run(context.Background(), c)
	if res.Failure != nil {
		t.Fatalf("%q: %v\n%s", c.Text, res.Failure, res.Output)
	}
	if res.ExitCode != code || res.Output != output {
		t.Errorf("%q: exit code %d and output %q, want %d and %q", c.Text, res.ExitCode, res.Output, code, output)
	}
	return res
}
