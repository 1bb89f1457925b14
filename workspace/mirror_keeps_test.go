package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// TestMirrorFollowsWhatIsNoContent changes a file's mode or its time and nothing else, which changes no content.
func TestMirrorFollowsWhatIsNoContent(t *testing.T) {
	m, _ := mirrored(t, "mode", "time", "same")
	m.settling = 1
	syncs(t, m, 3, 0, 0)
	syncs(t, m, 0, 3, 0)
	mode, when := filepath.Join(m.Root, "mode"), filepath.Join(m.Root, "time")
	if err := os.Chmod(mode, 0o600); err != nil {
		t.Fatal(err)
	}
	earlier := time.Now().Add(-48 * time.Hour).Truncate(time.Second)
	if err := os.Chtimes(when, earlier, earlier); err != nil {
		t.Fatal(err)
	}
	changed := 2
	if stat(t, mode).Mode() == stat(t, filepath.Join(m.Destination, "mode")).Mode() {
		changed = 1 // a system whose modes are not these
	}
	syncs(t, m, changed, 3-changed, 0)
	for _, name := range []string{"mode", "time", "same"} {
		src, dst := stat(t, filepath.Join(m.Root, name)), stat(t, filepath.Join(m.Destination, name))
		if src.Mode() != dst.Mode() || !src.ModTime().Equal(dst.ModTime()) {
			t.Errorf("%s: %v %v became %v %v", name, src.Mode(), src.ModTime(), dst.Mode(), dst.ModTime())
		}
	}
}

// TestMirrorTakesNoGitFile lists what git never does: the file `.git` of a worktree or a submodule, which says where a
// repository is.
func TestMirrorTakesNoGitFile(t *testing.T) {
	m, _ := mirrored(t, ".git", "sub/.git", "sub/.GIT", "sub/.gitignore")
	syncs(t, m, 1, 0, 3)
	if got, want := sketch(t, m.Destination), "sub/\nsub/.gitignore: content of sub/.gitignore\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestMirrorEndsBetweenUnchangedFiles cancels a round that has nothing to read.
func TestMirrorEndsBetweenUnchangedFiles(t *testing.T) {
	m, _ := mirrored(t, "a", "b", "c")
	m.settling = 1
	syncs(t, m, 3, 0, 0)
	syncs(t, m, 0, 3, 0)
	ctx, cancel := context.WithCancel(t.Context())
	m.Progress = func(int, int) { cancel() }
	got, err := m.Sync(ctx)
	failuretest.Produced(t, err, failure.Cancelled)
	if got.Skipped != 1 || got.Copied+got.Refused+got.Compared != 0 {
		t.Errorf("%+v", got)
	}
}

// countdown is a context that is cancelled when it has been asked so often.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestMirrorEndsInTheMidstOfAFile leaves what the file was, and nothing of what was begun.
func TestMirrorEndsInTheMidstOfAFile(t *testing.T) {
	m, _ := mirrored(t, "a")
	syncs(t, m, 1, 0, 0)
	put(t, filepath.Join(m.Root, "a"), strings.Repeat("new", 1<<20))
	got, err := m.Sync(&countdown{t.Context(), 5})
	failuretest.Produced(t, err, failure.Cancelled)
	if got.Copied != 0 {
		t.Errorf("%+v", got)
	}
	if got, want := sketch(t, m.Destination), "a: content of a\n"; got != want {
		t.Errorf("got\n%.200s\nwant\n%s", got, want)
	}
	syncs(t, m, 1, 0, 0)
}

// asked is a context that tells each time that it is asked whether it has ended.
type asked struct {
	context.Context
	times int
	tell  func(times int)
}

func (a *asked) Err() error {
	a.times++
	a.tell(a.times)
	return a.Context.Err()
}

// TestMirrorReliesOnNoFileThatChangedJustBeforeItWasRead has the reading take longer than a file needs to settle: what is
// written meanwhile may have the change time that was seen.
func TestMirrorReliesOnNoFileThatChangedJustBeforeItWasRead(t *testing.T) {
	for begun := time.Now(); time.Since(begun) < time.Minute; {
		m, _ := mirrored(t, "file")
		m.settling = 200 * time.Millisecond
		var changed time.Time
		soon := false // it was looked at before it had settled
		_, err := m.Sync(&asked{t.Context(), 0, func(times int) {
			switch times {
			case 1: // before the file has its turn
				put(t, filepath.Join(m.Root, "file"), "changed")
				changed = time.Now()
			case 2: // it is about to be read
				soon = time.Since(changed) < m.settling
				time.Sleep(m.settling)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if !soon {
			continue // this machine was too slow
		}
		if len(m.known) > 0 {
			t.Error("it is relied on")
		}
		return
	}
	t.Skip("this machine is too slow to tell")
}
