package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestDenyRulesBindAlthoughTheServerSaysYes(t *testing.T) {
	for _, c := range []struct {
		name, permissions, command, rest string
		grants                           []action.Extension
		want                             failure.Name
	}{
		{"a built-in deny", "", "rm -rf /", "", nil, failure.PolicyDenied},
		{"a built-in deny, decided by a person", "", "rm -rf /", `,"decision":{"kind":"human","by":"ana","at":"2026-12-02T08:00:00Z"}`, action.Known(), failure.PolicyDenied},
		{"the project's deny, in a disguise", `{"deny":["Terminal(curl)"]}`, `bash -c 'env X=1 curl x'`, `,"cwd":"ROOT"`, nil, failure.PolicyDenied},
		{"the project's deny, from a server that says who decided", `{"deny":["Terminal(curl)"]}`, "curl x", "", action.Known(), failure.PolicyDenied},
		{"a file of rules that is broken", `{"deny":["Terminal(curl)"`, "echo x", `,"cwd":"ROOT"`, nil, failure.PermissionsFileInvalid},
		{"the engine's own work is not bound by the project's file", `{"deny":["Terminal(echo)"]}`, "echo ran", "", nil, ""},
		{"what no rule denies", `{"deny":["Terminal(curl)"]}`, "echo ran", `,"cwd":"ROOT"`, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEngine(t, c.grants...)
			d := startDaemon(t, e)
			e.joined(t)
			if c.permissions != "" {
				if err := os.WriteFile(filepath.Join(d.root, "permissions.json"), []byte(c.permissions), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			rest := c.rest
			if rest == `,"cwd":"ROOT"` {
				rest = fmt.Sprintf(`,"cwd":%q`, d.root)
			}
			e.exec(t, "a", c.command, rest)
			r := e.result(t)
			if c.want == "" {
				if r.Output != "ran\n" {
					t.Errorf("%+v", r)
				}
				return
			}
			failuretest.Produced(t, r.Failure, c.want)
			if r.ExitCode != -1 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestWhatWasAllowedForItsContainerRunsNowhereElse: the server believes that the project's container runs, and none does.
func TestWhatWasAllowedForItsContainerRunsNowhereElse(t *testing.T) {
	for _, c := range []struct {
		name, decision string
		runs           bool
	}{
		{"for its container", `{"kind":"policy","rule":"container_floor","at":"2026-12-02T08:00:00Z"}`, false},
		{"by an entry, which counts here too", `{"kind":"policy","rule":"file_allow","at":"2026-12-02T08:00:00Z"}`, true},
		{"by a person", `{"kind":"human","by":"ana","rule":"container_floor","at":"2026-12-02T08:00:00Z"}`, true},
		{"by a person who was shown the container", `{"kind":"human","by":"ana","environment":"container","at":"2026-12-02T08:00:00Z"}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEngine(t, action.Known()...)
			d := startDaemon(t, e)
			e.joined(t)
			e.exec(t, "a", "touch ran", `,"decision":`+c.decision)
			r := e.result(t)
			_, err := os.Stat(filepath.Join(d.root, "ran"))
			if ran := err == nil; ran != c.runs || ran != (r.ExitCode == 0) {
				t.Errorf("%+v, %v", r, err)
			}
			if !c.runs {
				failuretest.Produced(t, r.Failure, failure.ContainerGone)
			}
		})
	}
}
