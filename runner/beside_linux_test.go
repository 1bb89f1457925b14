package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// Needs bash and, for the row that says so, a kernel with Landlock. What this machine names beside a project's folder counts
// as it does, as far as policy.json lets a project lie there.
func TestFolderThatIsNamedHereCountsAsTheProjects(t *testing.T) {
	for name, c := range map[string]struct {
		named, policy string
		cwd           string
		stopped       failure.Name // empty: the command runs
	}{
		"a cwd in it":               {"BASE/scratch", `{}`, "BASE/scratch/sub", ""},
		"a cwd by the link to it":   {"BASE/link", `{}`, "BASE/link/sub", ""},
		"a cwd in no such folder":   {"BASE/scratch", `{}`, "BASE/other", failure.CwdOutside},
		"nothing is named":          {"", `{}`, "BASE/scratch/sub", failure.CwdOutside},
		"not where projects may be": {"BASE/scratch", `{"default":{"roots":["BASE/project"]}}`, "BASE/scratch/sub", failure.CwdOutside},
		"a folder of ours":          {"BASE/.config/runner", `{}`, "BASE/.config/runner", failure.CwdOutside},
		"confined, in it":           {"BASE/scratch", `{"default":{"confine":{"mode":"on"}}}`, "BASE/scratch/sub", ""},
		"confined, from the root":   {"BASE/scratch", `{"default":{"confine":{"mode":"on"}}}`, "BASE/project", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e, base := newEngine(t, action.Known()...), t.TempDir()
			for _, folder := range []string{"scratch/sub", "other", ".config/runner"} {
				if err := os.MkdirAll(filepath.Join(base, folder), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("scratch", filepath.Join(base, "link")); err != nil {
				t.Fatal(err)
			}
			change := []func(*Options){withPolicy(t, base, c.policy), protecting(base), func(o *Options) {
				o.AlsoInside = func(p Project) []string {
					if p.ID != "p" || c.named == "" {
						return nil
					}
					return []string{strings.ReplaceAll(c.named, "BASE", base)}
				}
			}}
			if strings.HasPrefix(name, "confined") {
				change = append(change, confining(t))
			}
			startDaemonIn(t, e, base, change...)
			e.joined(t)
			e.exec(t, "a", "echo done >"+base+"/scratch/done && pwd", fmt.Sprintf(`,"cwd":%q`, strings.ReplaceAll(c.cwd, "BASE", base))+person)
			got := e.result(t)
			_, err := os.Stat(filepath.Join(base, "scratch", "done"))
			if c.stopped != "" {
				failuretest.Produced(t, got.Failure, c.stopped)
				if err == nil {
					t.Error("it ran")
				}
				return
			}
			if got.ExitCode != 0 || err != nil {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// TestAttackFolderBesideThatIsSwappedForALink needs bash: what counts as the project's is where it led when it was looked at
// first, also for a command that had to wait.
func TestAttackFolderBesideThatIsSwappedForALink(t *testing.T) {
	e, base, outside := newEngine(t), t.TempDir(), t.TempDir()
	scratch := filepath.Join(base, "scratch")
	if err := os.Mkdir(scratch, 0o700); err != nil {
		t.Fatal(err)
	}
	d := startDaemonIn(t, e, base, func(o *Options) {
		o.Commands.Parallel = 1
		o.AlsoInside = func(Project) []string { return []string{scratch} }
	})
	e.joined(t)
	e.exec(t, "first", "touch started; while [ ! -e go ]; do sleep 0.01; done", "")
	waitFile(t, filepath.Join(d.root, "started"))
	e.exec(t, "second", "touch mark", fmt.Sprintf(`,"cwd":%q`, scratch))
	e.exec(t, "wrong form", "true", `,"cwd":"sub"`) // refused at receipt, which comes behind that of the second
	if got := e.result(t); got.Ref != "wrong form" {
		t.Errorf("%+v", got)
	}
	if err := os.Rename(scratch, scratch+".was"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, scratch); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.root, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e.result(t)
	failuretest.Produced(t, e.result(t).Failure, failure.CwdOutside)
	isEmpty(t, outside)
}
