package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// A folder is checked when its command comes, and may be another one when the command starts: here what runs before it
// puts a link in its place. Runs a real shell.
func TestAttackFolderThatBecomesALinkWhileItsCommandWaits(t *testing.T) {
	e := newEngine(t)
	outside := t.TempDir()
	d := startDaemon(t, e, func(o *Options) { o.Commands.Parallel = 1 })
	e.joined(t)
	sub := filepath.Join(d.root, "sub")
	if err := os.MkdirAll(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	e.exec(t, "first", fmt.Sprintf("while [ ! -e go ]; do sleep 0.01; done; mv sub was; ln -s %s sub", outside), "")
	e.exec(t, "second", "touch mark", fmt.Sprintf(`,"cwd":%q`, sub))
	e.exec(t, "wrong form", "true", `,"cwd":"sub"`) // refused at receipt, which comes behind that of the second
	if got := e.result(t); got.Ref != "wrong form" {
		t.Errorf("%+v", got)
	}
	if err := os.WriteFile(filepath.Join(d.root, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := e.result(t); got.Ref != "first" || got.ExitCode != 0 {
		t.Errorf("%+v", got)
	}
	got := e.result(t)
	if f := failuretest.Produced(t, got.Failure, failure.CwdOutside); !strings.Contains(f.Cause, outside) {
		t.Error(f)
	}
	isEmpty(t, outside)
}

// swap exchanges two names again and again until the test ends, each time in one step.
func swap(t *testing.T, one, two string) {
	t.Helper()
	exchange := func() error { return unix.Renameat2(unix.AT_FDCWD, one, unix.AT_FDCWD, two, unix.RENAME_EXCHANGE) }
	if err := exchange(); err != nil {
		t.Skipf("this file system can't exchange two names: %v", err)
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
				_ = exchange()
				runtime.Gosched()
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-ended })
}

// The folder, and the root itself, change places with a link that leads out, all the time: each command stands inside or
// does not run. Runs a real shell.
func TestAttackFolderThatIsSwappedForALink(t *testing.T) {
	for name, c := range map[string]struct{ swapped, cwd string }{
		"the cwd": {"sub", "sub"}, "a folder above": {"sub", "sub/deep"}, "the root": {"", "sub"}, "the root as cwd": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t)
			base, outside := t.TempDir(), t.TempDir()
			d := startDaemonIn(t, e, base)
			e.joined(t)
			for _, folder := range []string{d.root, d.root + "/sub", d.root + "/sub/deep", outside, outside + "/sub", outside + "/deep"} {
				if err := os.MkdirAll(folder, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(folder, "where"), []byte(folder), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(outside, filepath.Join(base, "link")); err != nil {
				t.Fatal(err)
			}
			swap(t, filepath.Join(d.root, c.swapped), filepath.Join(base, "link"))
			ran := 0
			for i := range 150 {
				e.exec(t, fmt.Sprint(i), "cat where", fmt.Sprintf(`,"cwd":%q`, filepath.Join(d.root, c.cwd)))
				got := e.result(t)
				switch {
				case got.Failure == nil && strings.HasPrefix(got.Output, outside):
					t.Fatalf("a command stood in %s", got.Output)
				case got.Failure == nil:
					ran++
				case got.Failure.Name != failure.CwdOutside && got.Failure.Name != failure.CwdMissing && got.Failure.Name != failure.PermissionsFileInvalid:
					t.Fatalf("%+v", got.Failure)
				}
			}
			t.Logf("%d of 150 ran, all inside", ran)
		})
	}
}

// What a project puts in the place of its rules never counts as no rules. Runs mkfifo's system call.
func TestAttackRulesThatAreNoFile(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "permissions.json")
	if err := os.WriteFile(elsewhere, []byte(`{"allow":["Terminal(*)"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(path string) error{
		"a pipe that nobody writes": func(path string) error { return unix.Mkfifo(path, 0o600) },
		"a link to a device":        func(path string) error { return os.Symlink("/dev/zero", path) },
		"a link to rules elsewhere": func(path string) error { return os.Symlink(elsewhere, path) },
		"a link to nowhere":         func(path string) error { return os.Symlink("nowhere", path) },
		"a folder":                  func(path string) error { return os.Mkdir(path, 0o700) },
		"half a file":               func(path string) error { return os.WriteFile(path, []byte(`{"deny":["Terminal(`), 0o600) },
		"two lists of the same name": func(path string) error {
			return os.WriteFile(path, []byte(`{"deny":["Terminal(ls)"],"deny":[]}`), 0o600)
		},
		"more than is ever read": func(path string) error { return os.WriteFile(path, make([]byte, 5<<20), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, action.Known()...)
			d := startDaemon(t, e)
			e.joined(t)
			if err := put(filepath.Join(d.root, "permissions.json")); err != nil {
				t.Fatal(err)
			}
			e.exec(t, "a", "touch mark", fmt.Sprintf(`,"cwd":%q`, d.root))
			failuretest.Produced(t, e.result(t).Failure, failure.PermissionsFileInvalid)
			if _, err := os.Stat(filepath.Join(d.root, "mark")); err == nil {
				t.Error("it ran")
			}
		})
	}
}

// Whoever swaps the rules while they are read gets the one file or the other, and no third.
func TestAttackRulesThatAreSwappedWhileTheyAreRead(t *testing.T) {
	e := newEngine(t, action.Known()...)
	base := t.TempDir()
	d := startDaemonIn(t, e, base)
	e.joined(t)
	one, two := filepath.Join(d.root, "permissions.json"), filepath.Join(base, "other")
	for path, rules := range map[string]string{
		one: `{"deny":["Terminal(one)","Terminal(both)"]}`,
		two: `{"deny":["Terminal(both)","Terminal(two)"]` + strings.Repeat(" ", 100_000) + `}`,
	} {
		if err := os.WriteFile(path, []byte(rules), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	swap(t, one, two)
	for i := range 100 {
		e.exec(t, fmt.Sprint(i), "both; touch mark", fmt.Sprintf(`,"cwd":%q`, d.root))
		failuretest.Produced(t, e.result(t).Failure, failure.PolicyDenied)
	}
	if _, err := os.Stat(filepath.Join(d.root, "mark")); err == nil {
		t.Error("it ran")
	}
}
