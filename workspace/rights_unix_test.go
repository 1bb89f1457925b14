//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// asOrdinaryUser skips a test about rights for root, to whom none apply.
func asOrdinaryUser(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
}

// closed takes the right to write in dir away until the test ends.
func closed(t *testing.T, dir string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(dir, mode); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
}

func TestMaterializeComparesOwnerAndModeWithWhoWeAre(t *testing.T) {
	asOrdinaryUser(t)
	home, o := home(t)
	locked := mkdir(t, home, "locked")
	closed(t, locked, 0o500)

	_, err := Materialize(filepath.Join(locked, "a", "b"), o)
	f := failuretest.Produced(t, err, failure.RootNotCreated)
	for _, want := range []string{locked, "belongs to", "mode 0500", "we are"} {
		if !strings.Contains(f.Cause, want) {
			t.Errorf("the cause lacks %q: %s", want, f.Cause)
		}
	}
	_, err = Materialize(locked, o)
	f = failuretest.Produced(t, err, failure.RootNotWritable)
	if !strings.Contains(f.Cause, "mode 0500") {
		t.Errorf("the cause lacks the mode: %s", f.Cause)
	}
}

func TestMaterializeNamesTheFolderThatCanNotBeLookedInto(t *testing.T) {
	asOrdinaryUser(t)
	home, o := home(t)
	hidden := mkdir(t, home, "hidden")
	closed(t, hidden, 0)
	_, err := Materialize(filepath.Join(hidden, "a", "b"), o)
	f := failuretest.Produced(t, err, failure.RootNotCreated)
	if !strings.Contains(f.Cause, hidden+" belongs to") {
		t.Errorf("the cause does not name %s: %s", hidden, f.Cause)
	}
}

func TestConfineRefusesWhatItCanNotLookInto(t *testing.T) {
	asOrdinaryUser(t)
	root := realTemp(t)
	hidden := mkdir(t, root, "hidden")
	mkdir(t, hidden, "a")
	closed(t, hidden, 0)
	_, err := Confine(root, filepath.Join(hidden, "a"))
	failuretest.Produced(t, err, failure.CwdOutside)
}

func TestListNamesAFolderThatCanNotBeRead(t *testing.T) {
	asOrdinaryUser(t)
	home := mkdir(t, realTemp(t), "home")
	dir := mkdir(t, home, "private")
	closed(t, dir, 0)
	_, err := List(t.Context(), dir, Browse{Home: home})
	if f := failuretest.Produced(t, err, failure.FolderUnreadable); !strings.Contains(f.Cause, "mode 0000") {
		t.Error(f)
	}
	if got, err := List(t.Context(), home, Browse{Home: home}); err != nil || len(got.Entries) != 1 || !got.Entries[0].IsDir {
		t.Errorf("the folder above it: %+v, %v", got, err)
	}
}

func TestMirrorGoesOnAfterAFileThatCanNotBeRead(t *testing.T) {
	asOrdinaryUser(t)
	m, _ := mirrored(t, "a", "b", "c")
	if err := os.Chmod(filepath.Join(m.Root, "b"), 0); err != nil {
		t.Fatal(err)
	}
	got, err := m.Sync(t.Context())
	failuretest.Produced(t, err, failure.MirrorIncomplete)
	if got.Copied != 2 || got.Skipped != 0 || got.Refused != 1 {
		t.Errorf("%+v", got)
	}
}

func TestAFolderThatCannotBeMadeIsSaid(t *testing.T) {
	asOrdinaryUser(t)
	c := creation(t)
	locked := mkdir(t, c.Base, "locked")
	closed(t, locked, 0o500)
	for segment, want := range map[string]failure.Name{"locked": failure.RootNotWritable, "locked/a": failure.RootNotCreated} {
		c.Segment = segment
		_, err := MakeProject(t.Context(), c)
		if ReasonOf(err) != ReasonMkdir {
			t.Errorf("%s: reason %s", segment, ReasonOf(err))
		}
		failuretest.Produced(t, err, want)
	}
}
