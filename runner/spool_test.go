package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// spoolOf makes full outputs of 100 bytes each, the first the oldest.
func spoolOf(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i, name := range names {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(time.Duration(i-1000) * time.Minute)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestOldestFullOutputsGoFirst(t *testing.T) {
	for name, c := range map[string]struct {
		total int64
		want  []string
		inUse string
	}{
		"all fits":    {300, []string{"a.out", "b.out", "c.out", "note.txt"}, ""},
		"one byte":    {299, []string{"a.out", "b.out", "note.txt"}, ""},
		"two go":      {100, []string{"b.out", "note.txt"}, ""},
		"all go":      {0, []string{"note.txt"}, ""},
		"one grows":   {0, []string{"c.out", "note.txt"}, "c.out"},
		"almost none": {99, []string{"note.txt"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := spoolOf(t, "note.txt", "c.out", "a.out", "b.out") // the oldest is none of ours
			var inUse growing
			defer inUse.begin(c.inUse)()
			if _, err := trimSpool(dir, c.total, &inUse); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, namesIn(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if n, err := trimSpool(filepath.Join(t.TempDir(), "missing"), 0, &growing{}); n != 0 || err != nil {
		t.Error(n, err)
	}
}

func TestFullOutputsOfAllCommandsKeepToTheirBound(t *testing.T) {
	e, dir := newEngine(t), spoolOf(t, "earlier.out")
	d := startDaemon(t, e, func(o *Options) {
		o.Commands.ResultLimit, o.Commands.SpoolDir, o.Commands.SpoolLimit, o.Commands.SpoolTotal = 1024, dir, 1<<20, 10_050
	})
	e.joined(t)
	for i := range 3 {
		e.exec(t, fmt.Sprint(i), "head -c 5000 /dev/zero | tr '\\0' x", "")
		e.result(t)
		// Some file systems count in steps that are longer than a command.
		at := time.Now().Add(time.Duration(i-10) * time.Minute)
		if err := os.Chtimes(filepath.Join(dir, spoolName("p", fmt.Sprint(i))), at, at); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{spoolName("p", "1"), spoolName("p", "2")}
	if want[0] > want[1] {
		want[0], want[1] = want[1], want[0]
	}
	if diff := cmp.Diff(want, namesIn(t, dir)); diff != "" {
		t.Error(diff)
	}
	d.stop()
	if err := d.wait(t); err != nil {
		t.Error(err)
	}
}

// Runs real bash: what a command still writes stays, although all others go.
func TestFullOutputOfACommandThatRunsStays(t *testing.T) {
	e, dir := newEngine(t), t.TempDir()
	d := startDaemon(t, e, func(o *Options) {
		o.Commands.ResultLimit, o.Commands.SpoolDir, o.Commands.SpoolLimit, o.Commands.SpoolTotal = 1024, dir, 1<<20, 1
		o.Commands.Deadline, o.Commands.Parallel = 5*time.Minute, 2
	})
	e.joined(t)
	const fill = "head -c 5000 /dev/zero | tr '\\0' x"
	e.exec(t, "runs", fill+"; until [ -e go ]; do sleep 0.05; done; "+fill, "")
	grows := filepath.Join(dir, spoolName("p", "runs"))
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(grows); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it has no full output")
		}
	}
	e.exec(t, "ends", fill, "")
	if r := e.result(t); r.Ref != "ends" || r.ExitCode != 0 {
		t.Fatalf("%+v", r)
	}
	if diff := cmp.Diff([]string{spoolName("p", "runs")}, namesIn(t, dir)); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(filepath.Join(d.root, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := e.result(t); r.Ref != "runs" || r.ExitCode != 0 {
		t.Fatalf("%+v", r)
	}
	if left := namesIn(t, dir); len(left) > 0 { // it is like all others now
		t.Errorf("%q stay", left)
	}
}

// A look at thousands of files takes its time, and no command waits for it.
func TestCommandDoesNotWaitForTheTrimmingOfFullOutputs(t *testing.T) {
	var m Machine
	m.trimming.Lock()
	defer m.trimming.Unlock()
	name, done := m.spool("p", "a")
	if removed, err := m.spooling.unless(name, func() error { return nil }); removed || err != nil {
		t.Error("what is about to grow is removed", err)
	}
	done()
	if removed, err := m.spooling.unless(name, func() error { return nil }); !removed || err != nil {
		t.Error("what has ended is not removed", err)
	}
}

func TestFolderOfFullOutputsThatIsNoneIsNamed(t *testing.T) {
	e, file := newEngine(t), filepath.Join(spoolOf(t, "file"), "file")
	d := startDaemon(t, e, func(o *Options) { o.Commands.SpoolDir, o.Commands.SpoolLimit = file, 1<<20 })
	e.joined(t) // it serves all the same
	failuretest.Produced(t, d.log.failure(t, file), failure.SpoolFailed)
}
