package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// creation is a Create below a base in a new home. Its git leaves what git leaves.
func creation(t *testing.T) Create {
	t.Helper()
	home, o := home(t)
	return Create{
		Base: mkdir(t, home, "code"), Options: o,
		Init: func(_ context.Context, dir string) error { return os.Mkdir(filepath.Join(dir, ".git"), 0o755) },
	}
}

// cloning has c clone a repository of one file and one folder.
func cloning(c Create) Create {
	c.Clone = func(ctx context.Context, dir string) error {
		return errors.Join(c.Init(ctx, dir), os.WriteFile(filepath.Join(dir, "README"), []byte("r"), 0o644),
			os.MkdirAll(filepath.Join(dir, "src", "deep"), 0o755))
	}
	return c
}

func listed(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return strings.Join(names, " ")
}

func TestMakeProjectMakesTheFolderAndTheRepository(t *testing.T) {
	c := creation(t)
	c.Segment = "team/shop/"
	got, err := MakeProject(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(c.Base, "team", "shop")
	if want := (Created{Folder: Folder{Path: path, Real: path, Created: true}}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	c.Segment, c.Base = "lib", filepath.Join(c.Base, "not", "there", "yet")
	c = cloning(c)
	if got, err = MakeProject(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if all := listed(t, got.Path); all != ".git README src" {
		t.Errorf("there is %s", all)
	}
}

func TestMakeProjectLeavesARepositoryAsItIs(t *testing.T) {
	c := cloning(creation(t))
	c.Segment = "shop"
	path := mkdir(t, c.Base, "shop")
	writeFile(t, path, ".git") // of a work tree
	writeFile(t, path, "draft")
	got, err := MakeProject(t.Context(), c)
	if err != nil || !got.Kept || got.Path != path {
		t.Fatalf("%+v, %v", got, err)
	}
	if all := listed(t, path); all != ".git draft" {
		t.Errorf("there is %s", all)
	}
}

func TestMakeProjectKeepsWhatIsInTheFolder(t *testing.T) {
	c := creation(t)
	c.Segment = "shop"
	path := mkdir(t, c.Base, "shop")
	writeFile(t, path, "draft")
	_, err := MakeProject(t.Context(), cloning(c))
	if ReasonOf(err) != ReasonGit {
		t.Errorf("reason %s", ReasonOf(err))
	}
	failuretest.Produced(t, err, failure.FolderNotEmpty)
	if all := listed(t, path); all != "draft" {
		t.Errorf("there is %s", all)
	}
	if _, err := MakeProject(t.Context(), c); err != nil { // git init takes it
		t.Fatal(err)
	}
	if all := listed(t, path); all != ".git draft" {
		t.Errorf("there is %s", all)
	}
}

func TestAFailedStartLeavesAnEmptyFolder(t *testing.T) {
	broken := failure.New(failure.RemoteNotFound, "https://host/x")
	c := cloning(creation(t))
	c.Segment = "shop"
	path := filepath.Join(c.Base, "shop")
	works := c.Clone
	for name, clone := range map[string]func(ctx context.Context, dir string) error{
		"half-way": func(ctx context.Context, dir string) error { return errors.Join(works(ctx, dir), broken) },
		"without a repository": func(_ context.Context, dir string) error {
			return os.WriteFile(filepath.Join(dir, "README"), nil, 0o644)
		},
		"outrun": func(ctx context.Context, dir string) error {
			err := works(ctx, dir)
			return errors.Join(err, os.WriteFile(filepath.Join(path, "src"), nil, 0o644))
		},
	} {
		c.Clone = clone
		_, err := MakeProject(t.Context(), c)
		if ReasonOf(err) != ReasonGit || failure.As(err) == nil {
			t.Errorf("%s: %s %v", name, ReasonOf(err), err)
		}
		want := ""
		if name == "outrun" { // that is somebody else's
			want = "src"
		}
		if all := listed(t, path); all != want {
			t.Errorf("%s: there is %s", name, all)
		}
		_ = os.Remove(filepath.Join(path, "src"))
	}
	// What a daemon that was killed meanwhile left is no content.
	mkdir(t, path, halfFolder+"X", "src")
	c.Clone = works
	if _, err := MakeProject(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	c.Segment, c.Clone = "other", nil
	begun := c.Init
	c.Init = func(ctx context.Context, dir string) error { return errors.Join(begun(ctx, dir), broken) }
	_, err := MakeProject(t.Context(), c)
	failuretest.Produced(t, err, failure.RemoteNotFound)
	if all := listed(t, filepath.Join(c.Base, "other")); all != "" {
		t.Errorf("there is %s", all)
	}
}

// TestMakeProjectMakesNothingBeforeEveryRule plays the rules of protocol.md 7.4.
func TestMakeProjectMakesNothingBeforeEveryRule(t *testing.T) {
	at := creation(t)
	home := at.Options.Home
	elsewhere := mkdir(t, realTemp(t), "elsewhere")
	for name, to := range map[string]string{"out": elsewhere, "back": home, "nowhere": filepath.Join(home, "gone", "on")} {
		if err := os.Symlink(to, filepath.Join(at.Base, name)); err != nil {
			t.Skip("links can't be made here")
		}
	}
	if err := os.Symlink(at.Base, filepath.Join(home, "linked")); err != nil {
		t.Fatal(err)
	}
	writeFile(t, at.Base, "file")
	writeFile(t, home, "plain")
	shop := mkdir(t, home, "shop")
	for _, c := range []struct {
		base, root, segment string
		reason              Reason
		want                failure.Name
	}{
		{"", "", "a", ReasonNoBase, failure.BaseMissing},
		{"code", "", "a", ReasonNoBase, failure.BaseInvalid},
		{home + "/code\x00", "", "a", ReasonNoBase, failure.BaseInvalid},
		{home + "/../" + filepath.Base(home) + "/code", "", "a", ReasonNoBase, failure.BaseInvalid},
		{"/", "", "a", ReasonNoBase, failure.BaseInvalid},
		{elsewhere, "", "a", ReasonNoBase, failure.BaseInvalid},
		{home + "/code/out", "", "a", ReasonNoBase, failure.BaseInvalid},
		{home + "/plain", "", "a", ReasonNoBase, failure.BaseInvalid},
		{home + "-2", "", "a", ReasonNoBase, failure.BaseInvalid},
		{shop, shop, "a", ReasonNoBase, failure.BaseInvalid},
		{shop + "/below", shop, "a", ReasonNoBase, failure.BaseInvalid},
		{home + "/linked", home + "/code", "a", ReasonNoBase, failure.BaseInvalid},
		{at.Base, "", "", ReasonSegment, failure.SegmentInvalid},
		{at.Base, "", "a\x00", ReasonSegment, failure.SegmentInvalid},
		{at.Base, "", "/a", ReasonSegment, failure.SegmentInvalid},
		{at.Base, "", at.Base + "/a", ReasonSegment, failure.SegmentInvalid},
		{at.Base, "", "..", ReasonSegment, failure.SegmentInvalid},
		{at.Base, "", "a/../b", ReasonSegment, failure.SegmentInvalid},
		{at.Base, "", ".", ReasonSegment, failure.SegmentInvalid},
		{at.Base, "", "./", ReasonSegment, failure.SegmentInvalid},
		{at.Base, "", "out", ReasonSegment, failure.SegmentInvalid},
		{at.Base, "", "out/a", ReasonSegment, failure.SegmentInvalid},
		{at.Base, "", "back/a", ReasonSegment, failure.SegmentInvalid},
		{at.Base, "", "a/.git/hooks", ReasonSegment, failure.SegmentInvalid},
		{at.Base, "", "a/.GIT", ReasonSegment, failure.SegmentInvalid},
		{home, "", ".ssh", ReasonSegment, failure.RootNotAllowed},
		{at.Base, "", "refused-by-the-server", ReasonSegment, failure.RootNotConfirmable},
		{at.Base, "", "file", ReasonNotFolder, failure.RootNotFolder},
		{at.Base, "", "file/a", ReasonNotFolder, failure.RootNotFolder},
		{at.Base, "", "nowhere", ReasonNotFolder, failure.RootNotFolder},
	} {
		create := cloning(at)
		create.Base, create.ProjectRoot, create.Segment = c.base, c.root, c.segment
		create.Takes = func(path string) error {
			if strings.HasSuffix(path, "refused-by-the-server") {
				return Confirmable("/data/x")
			}
			return nil
		}
		_, err := MakeProject(t.Context(), create)
		if ReasonOf(err) != c.reason {
			t.Errorf("%q below %q: reason %s", c.segment, c.base, ReasonOf(err))
		}
		failuretest.Produced(t, err, c.want)
	}
	if all := listed(t, at.Base); all != "back file nowhere out" {
		t.Errorf("there is %s", all)
	}
	if all := listed(t, elsewhere) + listed(t, shop); all != "" {
		t.Errorf("there is %s", all)
	}
	// The root inside the base is the normal case, and so is a base by a link.
	for _, base := range []string{home, at.Base, filepath.Join(home, "linked"), filepath.Join(home, "new", "one")} {
		if err := PermittedBase(base, filepath.Join(at.Base, "shop"), at.Options); err != nil {
			t.Error(err)
		}
	}
}
