package main

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// lock is one of the things that stop an attack, as it can be taken off.
type lock struct {
	name string
	// off are heads of functions, by file, and the line with which each does nothing any more.
	off []cut
	// shows are the attacks that get through then, as `room.Name`.
	shows []string
}

type cut struct{ file, head, body string }

// takeOff changes the text of a file so that the function with that head begins with body.
func (c cut) takeOff(t *testing.T, text string) string {
	t.Helper()
	before, rest, found := strings.Cut(text, "\n"+c.head)
	head, behind, whole := strings.Cut(rest, "{\n")
	if !found || !whole || strings.Contains(head, "\n") || strings.Contains(behind, "\n"+c.head) {
		t.Fatalf("%s has no function, or more than one, whose head begins %q: say here where the lock is now", c.file, c.head)
	}
	return before + "\n" + c.head + head + "{\n\t" + c.body + "\n" + behind
}

// TestEveryAttackMeetsALock holds the table of locks against the attacks that are played: each is stopped by one of the
// locks, and with RUNNER_TEST_LOCKS=1 each is seen to get through once that is taken off in a copy. That takes a quarter of
// an hour, as an ordinary user or as root, who skips the attacks of the other.
func TestEveryAttackMeetsALock(t *testing.T) {
	var shown []string
	for _, l := range locks() {
		shown = append(shown, l.shows...)
		t.Run(l.name, func(t *testing.T) { l.test(t, os.Getenv("RUNNER_TEST_LOCKS") == "1") })
	}
	tests := testsOfTheTree(t)
	for _, name := range tests {
		if _, test, _ := strings.Cut(name, "."); (strings.HasPrefix(test, "TestAttack") || strings.HasPrefix(test, "TestRootAttack")) && !slices.Contains(shown, name) {
			t.Errorf("%s is stopped by no lock of this table: what does it show?", name)
		}
	}
	for _, name := range shown {
		if !slices.Contains(tests, name) {
			t.Errorf("%s is no test", name)
		}
	}
}

func (l lock) test(t *testing.T, play bool) {
	replace := map[string]string{}
	folder := t.TempDir()
	for _, c := range l.off {
		path, err := filepath.Abs(filepath.Join("..", "..", filepath.FromSlash(c.file)))
		if err != nil {
			t.Fatal(err)
		}
		from := cmp.Or(replace[path], path)
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		replace[path] = filepath.Join(folder, strings.ReplaceAll(c.file, "/", "_"))
		if err := os.WriteFile(replace[path], []byte(c.takeOff(t, string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !play {
		return
	}
	overlay := filepath.Join(folder, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil || os.WriteFile(overlay, text, 0o600) != nil {
		t.Fatal(err)
	}
	binaries := map[string]string{}
	for _, name := range l.shows {
		room, test, _ := strings.Cut(name, ".")
		at := filepath.Join("..", "..", filepath.FromSlash(room))
		if binaries[room] == "" {
			binaries[room] = filepath.Join(folder, strings.ReplaceAll(room, "/", "_")+".test")
			build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binaries[room], ".")
			build.Dir = at
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		}
		played := exec.Command(binaries[room], "-test.run=^"+test+"$", "-test.failfast", "-test.v", "-test.timeout=3m")
		played.Dir = at
		switch out, err := played.CombinedOutput(); {
		case strings.Contains(string(out), "\n--- SKIP: "+test):
			t.Logf("%s is skipped here", name)
		case err == nil || !strings.Contains(string(out), "--- FAIL: "+test) && !strings.Contains(string(out), "panic: test timed out"):
			t.Errorf("%s passes all the same, or ends otherwise: %v\n%s", name, err, out)
		default:
			t.Logf("%s gets through", name)
		}
	}
}
