package runner

import (
	"fmt"
	"log/slog"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/machinepolicy"
	"brabo.dev/runner/workspace"
)

// BenchmarkGuard is the second lock alone, with both files of rules and folders of its own to look for, beside the
// start of the shell that it stands before. Goal: for the usual command a tenth of that at most.
func BenchmarkGuard(b *testing.B) {
	base := b.TempDir()
	root := filepath.Join(base, "project")
	for path, text := range map[string]string{
		filepath.Join(root, "permissions.json"): `{"allow":["Terminal(npm test)"],"deny":["Terminal(curl)","GitPush()"],"ask":["Terminal(npm run)"]}`,
		filepath.Join(base, "policy.json"):      `{"default":{"deny":["Terminal(wget)"],"roots":["` + base + `"],"ceilings":{"privileged":"refuse"}}}`,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	o := testOptions(b, newEngine(b), base, nil)
	o.Log = slog.New(slog.DiscardHandler)
	protecting(base)(&o)
	o.Lock = (&machinepolicy.Files{Own: filepath.Join(base, "policy.json")}).Lock
	s := newSession(New(o), Project{ID: "p", Root: root}, nil)
	s.folder = workspace.Folder{Path: root, Real: root}
	for name, command := range map[string]string{
		"simple":  "npm test",
		"usual":   "cd " + root + " && npm test -- --watch=false 2>&1 | tail -n 50",
		"twenty":  "cd " + root + "; for f in a b c; do grep -rn \"$f\" src | sort | uniq -c | head -5; done; git status && git diff --stat && ls -la ~/x && cat a b c | wc -l; find . -name '*.go' | xargs wc -l | tail -1; echo done",
		"program": "python3 - <<'E'\nimport os\nfor f in os.listdir('.'):\n  print(f)\nE",
	} {
		b.Run(name, func(b *testing.B) {
			var guarded, bare []time.Duration
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				if _, fail := s.guard(action.Exec{Ref: fmt.Sprint(i), Command: command, Cwd: root}); fail != nil {
					b.Fatal(fail)
				}
				guarded = append(guarded, time.Since(began))
				if i%8 > 0 {
					continue
				}
				began = time.Now()
				cmd := osexec.Command(o.Commands.Shell.Path, append(slices.Clone(o.Commands.Shell.Args), "true")...)
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				bare = append(bare, time.Since(began))
			}
			b.ReportMetric(float64(median(guarded))/float64(median(bare)), "of-a-shell")
			b.ReportMetric(float64(median(guarded).Nanoseconds())/1000, "µs/guard")
		})
	}
}
