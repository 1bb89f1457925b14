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

	"golang.org/x/sync/errgroup"
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
// locks, and is seen to get through once that is taken off in a copy: with RUNNER_TEST_LOCKS=all for every lock, which takes
// a quarter of an hour, with the name of a lock for that one. Root and an ordinary user skip the attacks of the other.
func TestEveryAttackMeetsALock(t *testing.T) {
	var shown []string
	chosen, played := os.Getenv("RUNNER_TEST_LOCKS"), false
	for _, l := range locks() {
		shown = append(shown, l.shows...)
		play := chosen == "all" || chosen == l.name
		played = played || play
		t.Run(l.name, func(t *testing.T) { l.test(t, play) })
	}
	if chosen != "" && !played {
		t.Errorf("RUNNER_TEST_LOCKS names no lock of the table: %q", chosen)
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
		room, _, _ := strings.Cut(name, ".")
		if binaries[room] == "" {
			binaries[room] = buildIn(t, room, folder, overlay)
		}
	}
	var all errgroup.Group // many of them wait for what does not come
	all.SetLimit(4)
	for _, name := range l.shows {
		all.Go(func() error {
			room, test, _ := strings.Cut(name, ".")
			getsThrough(t, binaries[room], room, test)
			return nil
		})
	}
	_ = all.Wait()
}

// inRoom is the folder of a package, as seen from this one.
func inRoom(room string) string { return filepath.Join("..", "..", filepath.FromSlash(room)) }

// buildIn builds the tests of a package, with some files replaced.
func buildIn(t *testing.T, room, folder, overlay string) string {
	t.Helper()
	binary := filepath.Join(folder, strings.ReplaceAll(room, "/", "_")+".test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, ".")
	build.Dir = inRoom(room)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// getsThrough plays one attack, whose test has to fail.
func getsThrough(t *testing.T, binary, room, test string) {
	played := exec.Command(binary, "-test.run=^"+test+"$", "-test.failfast", "-test.v", "-test.timeout=3m")
	played.Dir = inRoom(room)
	switch out, err := played.CombinedOutput(); {
	case strings.Contains(string(out), "\n--- SKIP: "+test):
		t.Logf("%s.%s is skipped here", room, test)
	case err == nil || !strings.Contains(string(out), "--- FAIL: "+test) && !strings.Contains(string(out), "panic: test timed out"):
		t.Errorf("%s.%s passes all the same, or ends otherwise: %v\n%s", room, test, err, out)
	default:
		t.Logf("%s.%s gets through", room, test)
	}
}
