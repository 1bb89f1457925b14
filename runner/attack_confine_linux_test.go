package runner

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/exec"
	"brabo.dev/runner/runner/action"
)

// confining lets a daemon confine, with the test binary as the program between.
func confining(t testing.TB) func(*Options) {
	t.Helper()
	if _, err := exec.Confinement(); err != nil {
		if os.Getenv("RUNNER_TEST_REQUIRE") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return func(o *Options) { o.Commands.Helper = []string{binary, asBetween} }
}

// TestAttackServerCommandLeavesTheProject needs bash and a kernel with Landlock: policy.json confines what a server has run
// on the host. Without it each row succeeds, or it would show nothing.
func TestAttackServerCommandLeavesTheProject(t *testing.T) {
	for _, c := range []struct{ tried, text string }{
		{"reads outside", `cat "$OUTSIDE"/secret`},
		{"reads this daemon's own", `cat "$OUTSIDE"/.con*/runner/key`},
		{"writes outside", `echo evil >"$OUTSIDE"/secret`},
	} {
		for mode, through := range map[string]bool{"off": true, "on": false} {
			t.Run(c.tried+" with confinement "+mode, func(t *testing.T) {
				e := newEngine(t, action.Known()...)
				base := t.TempDir()
				if err := os.MkdirAll(filepath.Join(base, ".config", "runner"), 0o700); err != nil {
					t.Fatal(err)
				}
				for _, name := range []string{"secret", ".config/runner/key"} {
					if err := os.WriteFile(filepath.Join(base, name), []byte("SECRET"), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				startDaemonIn(t, e, base, withPolicy(t, base, `{"default":{"confine":{"mode":"`+mode+`"}}}`),
					protecting(base), confining(t), func(o *Options) { o.Commands.Environment = map[string]string{"OUTSIDE": base} })
				e.joined(t)
				text, _ := json.Marshal(c.text + " && echo got it; echo still here >inside; cat inside")
				e.send(t, "exec", `{"ref":"a","command":`+string(text)+person+`}`)
				var r action.ExecResult
				if err := json.Unmarshal(e.hear(t, "exec_result").Payload, &r); err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(r.Output, "still here\n") {
					t.Errorf("it can't work: %q, %v", r.Output, r.Failure)
				}
				if got := strings.Contains(r.Output, "got it"); got != through {
					t.Errorf("it got through: %v; %q", got, r.Output)
				}
				if kept, _ := os.ReadFile(filepath.Join(base, "secret")); !through && string(kept) != "SECRET" {
					t.Errorf("the file holds %q", kept)
				}
			})
		}
	}
}
