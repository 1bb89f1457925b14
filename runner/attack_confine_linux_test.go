package runner

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/exec"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
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
// on the host. Without that each row succeeds, or it would show nothing.
func TestAttackServerCommandLeavesTheProject(t *testing.T) {
	for _, c := range []struct {
		tried, text string
		confine     string // members that come to the mode
	}{
		{"reads outside", `cat "$OUTSIDE"/secret`, ``},
		{"reads this daemon's own", `cat "$OUTSIDE"/.con*/runner/key`, ``},
		{"writes outside", `echo evil >"$OUTSIDE"/secret`, ``},
		{"writes where it may only read", `cat "$OUTSIDE"/secret && echo evil >"$OUTSIDE"/secret`, `,"read":["BASE/secret"]`},
		{"connects out", `exec 3<>/dev/tcp/127.0.0.1/"$PORT"`, `,"network":false`},
	} {
		for mode, through := range map[string]bool{"off": true, "on": false} {
			t.Run(c.tried+" with confinement "+mode, func(t *testing.T) {
				v := newOutside(t)
				r := v.serve(t, `{"default":{"confine":{"mode":"`+mode+`"`+c.confine+`}}}`, c.text+` && echo got it; echo still here >inside; cat inside`)
				if !strings.Contains(r.Output, "still here\n") {
					t.Errorf("it can't work: %q, %v", r.Output, r.Failure)
				}
				if got := strings.Contains(r.Output, "got it"); got != through {
					t.Errorf("it got through: %v; %q", got, r.Output)
				}
				if kept, _ := os.ReadFile(filepath.Join(v.base, "secret")); !through && string(kept) != "SECRET" {
					t.Errorf("the file holds %q", kept)
				}
			})
		}
	}
	for opens, confine := range map[string]string{
		"the folder": `"read":["BASE/.config/runner"]`, "what holds it": `"write":["BASE/.config"]`, "what lies in it": `"read":["BASE/.config/runner/key"]`,
	} {
		t.Run("where policy.json opens "+opens+" of this daemon", func(t *testing.T) {
			v := newOutside(t)
			r := v.serve(t, `{"default":{"confine":{"mode":"on",`+confine+`}}}`, `touch ran`)
			failuretest.Produced(t, r.Failure, failure.ConfinementOpensRunner)
		})
	}
}

// TestConfinedCommandHasWhatPolicyLets needs bash and a kernel with Landlock: the same doors, opened.
func TestConfinedCommandHasWhatPolicyLets(t *testing.T) {
	v := newOutside(t)
	r := v.serve(t, `{"default":{"confine":{"mode":"on","write":["BASE/secret"],"network":true}}}`,
		`cat "$OUTSIDE"/secret && echo more >>"$OUTSIDE"/secret && exec 3<>/dev/tcp/127.0.0.1/"$PORT" && echo got it`)
	if r.Output != "SECRETgot it\n" {
		t.Errorf("%q, %v", r.Output, r.Failure)
	}
}

// outside is what a confined command is kept from: a file, the daemon's folder and a port of this machine.
type outside struct{ base, port string }

func newOutside(t *testing.T) outside {
	t.Helper()
	v := outside{base: t.TempDir()}
	if err := os.MkdirAll(filepath.Join(v.base, ".config", "runner"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"secret", ".config/runner/key"} {
		if err := os.WriteFile(filepath.Join(v.base, name), []byte("SECRET"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	listens, err := net.Listen("tcp", "127.0.0.1:0") // the kernel answers for it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listens.Close() })
	_, v.port, _ = net.SplitHostPort(listens.Addr().String())
	return v
}

// serve has a server run text on a daemon with that policy.json, in which BASE stands for the folder outside.
func (v outside) serve(t *testing.T, policy, text string) action.ExecResult {
	t.Helper()
	e := newEngine(t, action.Known()...)
	startDaemonIn(t, e, v.base, withPolicy(t, v.base, policy), protecting(v.base), confining(t), func(o *Options) {
		o.Commands.Environment = map[string]string{"OUTSIDE": v.base, "PORT": v.port}
	})
	e.joined(t)
	quoted, _ := json.Marshal(text)
	e.send(t, "exec", `{"ref":"a","command":`+string(quoted)+person+`}`)
	var r action.ExecResult
	if err := json.Unmarshal(e.hear(t, "exec_result").Payload, &r); err != nil {
		t.Fatal(err)
	}
	return r
}
