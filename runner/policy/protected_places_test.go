package policy

import (
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func steersIn(command string) string {
	return NewRecheck(Action{Type: typeTerminal, Command: command, Cwd: shop}, Permissions{}, Context{ScopeRoot: shop}).Steers(ours())
}

// Everyday scripts go through many folders, and one that reaches ours behind as many is found.
func TestManyChangesOfFolderAreFollowed(t *testing.T) {
	names := make([]string, 60)
	for i := range names {
		names[i] = "package-" + strings.Repeat("x", i)
	}
	each := func(front, back string) string { return front + strings.Join(names, back+front) + back }
	for name, c := range map[string]struct{ through, harmless, steers string }{
		"one after the other": {each("(cd ", " && make); "), "ls ../dist; rm -rf build *.o", "cat ../.config/runner/policy.json"},
		"there and back":      {each("cd ", "; make; cd ..; "), "ls dist/*", "cat .config/runner/policy.json"},
		"from one to another": {"cd packages; " + each("cd ../", " && make; "), "ls *.go", "cat ../../.config/runner/policy.json"},
		"deeper and deeper":   {each("cd ", "; "), "ls ..", "rm -rf " + strings.Repeat("../", 61)},
	} {
		t.Run(name, func(t *testing.T) {
			if why := steersIn(c.through + c.harmless); why != "" {
				t.Errorf("it is said to steer: %s", why)
			}
			if steersIn(c.through+c.steers) == "" {
				t.Error("it is not found")
			}
		})
	}
}

// TestChangesOfFolderAreFollowedAsIfOneByOne goes through every choice of the changes that may have failed, and compares.
func TestChangesOfFolderAreFollowedAsIfOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SampledFrom([]string{"a", "b", "..", "../..", ".config", ".Config", "runner", "../.config", "/home", "/home/ana/.local", "state/x", "/tmp"})
		cds := rapid.SliceOfN(names, 0, 6).Draw(t, "cds")
		word := rapid.SampledFrom([]string{"x", "runner/x", "../runner/x", ".config/runner", "../../.config/runner/x", "../../../home/ana/.config/runner", "state/runner/x"}).Draw(t, "word")
		want := false
		for choice := range 1 << len(cds) {
			at := shop
			for i, to := range cds {
				switch {
				case choice>>i&1 == 0:
				case path.IsAbs(to):
					at = to
				default:
					at = path.Join(at, to)
				}
				for _, f := range ours().Folders {
					want = want || below(fold(at), fold(f))
				}
			}
			for _, f := range ours().Folders {
				want = want || below(fold(path.Join(at, word)), fold(f))
			}
		}
		text := "cat " + word
		if len(cds) > 0 {
			text = "cd " + strings.Join(cds, "; cd ") + "; " + text
		}
		if got := steersIn(text); (got != "") != want {
			t.Errorf("%s: %q, and it should be found: %v", text, got, want)
		}
	})
}

// What would take too long to look at is refused, and in time.
func TestMoreFoldersThanCanBeFollowedAreRefused(t *testing.T) {
	many := megabyte("", "cd a;", "")[:100_000]
	for name, text := range map[string]string{
		"folders": many + "ls", "words": strings.Repeat("cd a;", 250) + "cat " + strings.Repeat("../* ", 10_000),
		"back and forth": strings.Repeat("cd a;", 250) + strings.Repeat("cd .;", 20_000) + "ls",
		"trees":          strings.Repeat("cd a;", 250) + "rm -rf " + strings.Repeat("../x ", 10_000),
	} {
		if why := steersIn(text); !strings.Contains(why, tooMuch) {
			t.Errorf("%s: %q", name, why)
		}
	}
}

func TestBareChangeOfFolderLeadsHome(t *testing.T) {
	for text, steers := range map[string]bool{
		"cd; cat .config/runner/policy.json": true, "cd && echo x >.config/runner/policy.json": true, "cd -P; cat .config/runner/policy.json": true,
		"cd --; cat .config/runner/policy.json": true, "cd; ls": false, "cd sub; cat .config/runner/policy.json": false, "cd -- sub; cat .config/x": false,
	} {
		if why := steersIn(text); (why != "") != steers {
			t.Errorf("%q: %q", text, why)
		}
	}
}
