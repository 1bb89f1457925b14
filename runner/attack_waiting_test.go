package runner

import (
	"os"
	"path/filepath"
	"testing"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/machinepolicy"
)

// TestAttackRulesSwappedWhileACommandWaits changes a file that decides while a command waits for its turn. What was fit
// when it came may not be now, and it runs as it is judged at its start.
func TestAttackRulesSwappedWhileACommandWaits(t *testing.T) {
	for name, c := range map[string]struct {
		policy, rules string // what is written meanwhile, empty for nothing
		decision      string
		want          failure.Name
	}{
		"a deny of the project":            {"", `{"deny":["Terminal(touch)"]}`, person, failure.PolicyDenied},
		"a deny of the machine":            {`{"default":{"deny":["Terminal(touch)"]}}`, "", person, failure.PolicyDenied},
		"no commands any more":             {`{"default":{"actions":[]}}`, "", person, failure.MachinePolicyRefused},
		"confinement, which can't be here": {`{"default":{"confine":{"mode":"on"}}}`, "", person, failure.ConfinementUnavailable},
		"a ceiling that asks":              {`{"default":{"ceilings":{"unresolved":"confirm"}}}`, "", rule, failure.HeldForConfirmation},
	} {
		t.Run(name, func(t *testing.T) {
			e, path := newEngine(t, action.Known()...), filepath.Join(t.TempDir(), machinepolicy.FileName)
			write := func(file, text string) {
				t.Helper()
				if text == "" {
					return
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(path, `{"default":{"ceilings":{"unresolved":"trust"}}}`)
			d := startDaemon(t, e, func(o *Options) {
				o.Commands.Parallel, o.Commands.Helper, o.Lock = 1, nil, (&machinepolicy.Files{Own: path}).Lock
			})
			e.joined(t)
			e.exec(t, "first", "touch started; while [ ! -e go ]; do sleep 0.01; done", person)
			waitFile(t, filepath.Join(d.root, "started"))
			e.exec(t, "second", "touch ran; $X", c.decision)
			await(t, d.m, "the second waits", func(s control.Status) bool { return project(s).Queued == 1 })
			write(path, c.policy)
			write(filepath.Join(d.root, "permissions.json"), c.rules)
			write(filepath.Join(d.root, "go"), "go")
			if r := e.result(t); r.Ref != "first" {
				t.Errorf("%+v", r)
			}
			failuretest.Produced(t, e.result(t).Failure, c.want)
			if _, err := os.Stat(filepath.Join(d.root, "ran")); err == nil {
				t.Error("it ran")
			}
		})
	}
}

// TestAttackCeilingsBehindTextThatDoesNotParse: a shell runs the whole lines in front of the break.
func TestAttackCeilingsBehindTextThatDoesNotParse(t *testing.T) {
	e := newEngine(t)
	d := startDaemon(t, e, withPolicy(t, "", `{"default":{"ceilings":{"privileged":"refuse","external_effect":"refuse","unresolved":"refuse"}}}`))
	e.joined(t)
	for _, text := range []string{"touch ran; sudo -n true\n(", "touch ran; git push --dry-run\n`", "if then\nsudo -n true"} {
		e.exec(t, text, text, "")
		failuretest.Produced(t, e.result(t).Failure, failure.MachinePolicyRefused)
	}
	if _, err := os.Stat(filepath.Join(d.root, "ran")); err == nil {
		t.Error("it ran")
	}
	e.exec(t, "own", "echo own\n(", "") // an engine's own git work has such text
	if r := e.result(t); r.Failure != nil && r.Failure.Name == failure.MachinePolicyRefused {
		t.Errorf("%+v", r)
	}
}
