package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// home is a new home folder and the options of a user who lives there.
func home(t testing.TB) (string, Options) {
	t.Helper()
	dir := mkdir(t, realTemp(t), "home")
	return dir, Options{
		Home:   dir,
		Ours:   []string{filepath.Join(dir, ".config", "runner"), filepath.Join(dir, "state", "runner")},
		Origin: "--dir",
	}
}

func TestMaterializeMakesAFolderThatCanBeWritten(t *testing.T) {
	home, o := home(t)
	root := filepath.Join(home, "code", "shop")
	got, err := Materialize(root+string(filepath.Separator), o)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Folder{Path: root, Real: root, Created: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	left, err := os.ReadDir(root)
	if err != nil || len(left) != 0 {
		t.Errorf("the probe left %v (%v)", left, err)
	}
	if info, err := os.Stat(root); err != nil || info.Mode().Perm()&0o022 != 0 {
		t.Errorf("mode %v (%v), which lets others write", info.Mode(), err)
	}
	if again, err := Materialize(root, o); err != nil || again.Created {
		t.Errorf("a second time: %+v, %v", again, err)
	}
}

func TestMaterializeKeepsWhatIsThere(t *testing.T) {
	home, o := home(t)
	root := mkdir(t, home, "shop")
	file := writeFile(t, root, "README.md")
	if _, err := Materialize(root, o); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "x" {
		t.Errorf("the file is now %q, %v", data, err)
	}
}

func TestMaterializeFollowsALinkThatStaysBelowRoots(t *testing.T) {
	home, o := home(t)
	real := mkdir(t, home, "disk", "shop")
	root := link(t, real, home, "shop")
	got, err := Materialize(root, o)
	if err != nil || got.Path != root || got.Real != real {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestMaterializeRefusesAPathThatIsNotPlain(t *testing.T) {
	home, o := home(t)
	sep := string(filepath.Separator)
	for _, root := range []string{"", "relative", "~/shop", home + sep + "a" + sep + ".." + sep + "b",
		home + sep + "." + sep + "a", home + sep + "a\x00b"} {
		_, err := Materialize(root, o)
		failuretest.Produced(t, err, failure.RootNotAbsolute)
	}
}

func TestMaterializeRefusesFoldersOfTheSystem(t *testing.T) {
	_, o := home(t)
	o.Roots = []string{string(filepath.Separator)}
	list := []string{"/", "/etc", "/etc/runner-test", "/usr/local/src/x", "/var/projects", "/root", "/data/x", "/proc/self", "/lib32/x"}
	if runtime.GOOS == "windows" {
		list = []string{`C:\`, `C:\Windows\x`, `c:\program files\x`}
	}
	for _, root := range list {
		_, err := Materialize(root, o)
		failuretest.Produced(t, err, failure.RootSystemFolder)
	}
}

func TestHomesThatLieInAFolderOfTheSystemAreTheirUsersOwn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("on Windows homes lie in no folder of the system")
	}
	for _, tt := range []struct {
		home, root string
		fine       bool
	}{
		{"/root", "/root/shop", true},
		{"/var/home/nobody-of-that-name", "/var/home/nobody-of-that-name/shop", true},
		{"/var/home/nobody-of-that-name", "/var/home/somebody-else/shop", false},
		{"/bin", "/bin/shop", false},
		{"/var", "/var/shop", false},
	} {
		err := Permitted(tt.root, Options{Home: tt.home})
		if fine := !failure.Is(err, failure.RootSystemFolder); fine != tt.fine {
			t.Errorf("%s in the home %s: %v", tt.root, tt.home, err)
		}
	}
}

func TestMaterializeRefusesTheHomeFolderUnlessAllowed(t *testing.T) {
	home, o := home(t)
	_, err := Materialize(home, o)
	f := failuretest.Produced(t, err, failure.HomeAsRoot)
	if !strings.Contains(f.Next, filepath.Join(home, "project")) {
		t.Errorf("the next step names no folder to move to: %s", f.Next)
	}
	_, err = Materialize(link(t, home, realTemp(t), "alias"), o)
	failuretest.Produced(t, err, failure.HomeAsRoot)
	o.AllowHomeRoot = true
	if _, err := Materialize(home, o); err != nil {
		t.Errorf("allowed: %v", err)
	}
}

func TestMaterializeRefusesFoldersOfOurOwn(t *testing.T) {
	home, o := home(t)
	o.Roots = []string{home, filepath.Dir(home)}
	for _, root := range []string{o.Ours[0], filepath.Join(o.Ours[1], "x"), filepath.Join(home, "state"), filepath.Dir(home)} {
		_, err := Materialize(root, o)
		failuretest.Produced(t, err, failure.RootHoldsOurs)
	}
	mkdir(t, home, "state", "runner")
	_, err := Materialize(link(t, filepath.Join(home, "state"), home, "alias"), o)
	failuretest.Produced(t, err, failure.RootHoldsOurs)
}

func TestMaterializeRefusesWhatLiesOutsideRoots(t *testing.T) {
	home, o := home(t)
	elsewhere := mkdir(t, filepath.Dir(home), "elsewhere")
	for name, root := range map[string]string{
		"beside home":                       filepath.Join(elsewhere, "shop"),
		"a name that begins like home":      home + "-2",
		"a link out of home":                filepath.Join(link(t, elsewhere, home, "out"), "shop"),
		"a folder for programs":             filepath.Join(home, ".cache", "shop"),
		"a dot folder itself":               filepath.Join(home, ".ssh"),
		"Library":                           filepath.Join(home, "Library", "shop"),
		"AppData":                           filepath.Join(home, "AppData", "Local", "shop"),
		"a link into a folder for programs": filepath.Join(link(t, mkdir(t, home, ".local"), home, "local"), "shop"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Materialize(root, o)
			failuretest.Produced(t, err, failure.RootNotAllowed)
			if _, err := os.Lstat(root); name != "a dot folder itself" && err == nil {
				t.Errorf("%s was made", root)
			}
		})
	}
	t.Run("no home and no roots", func(t *testing.T) {
		_, err := Materialize(filepath.Join(elsewhere, "shop"), Options{})
		failuretest.Produced(t, err, failure.RootNotAllowed)
	})
	t.Run("the folder of roots itself", func(t *testing.T) {
		o := o
		o.Roots = []string{elsewhere}
		_, err := Materialize(elsewhere, o)
		failuretest.Produced(t, err, failure.RootNotAllowed)
	})
}

func TestRootsMoveTheRuleThatARootLiesBelowHome(t *testing.T) {
	home, o := home(t)
	elsewhere := mkdir(t, filepath.Dir(home), "elsewhere")
	o.Roots = []string{filepath.Join(home, "code"), elsewhere}
	if _, err := Materialize(filepath.Join(elsewhere, "shop"), o); err != nil {
		t.Error(err)
	}
	if _, err := Materialize(filepath.Join(link(t, elsewhere, home, "code"), "mall"), o); err != nil {
		t.Errorf("a link from one of roots into another: %v", err)
	}
	if err := Permitted(filepath.Join(home, "shop"), o); err == nil {
		t.Error("home is still allowed although roots names other folders")
	}
}

func TestTheDemoMayUseTheCacheFolder(t *testing.T) {
	home, o := home(t)
	o.Demo = true
	if _, err := Materialize(filepath.Join(home, ".cache", "runner", "demo-1"), o); err != nil {
		t.Error(err)
	}
	if err := Permitted(o.Ours[0], o); !failure.Is(err, failure.RootHoldsOurs) {
		t.Errorf("our config folder as the demo's: %v", err)
	}
}

func TestMaterializeNeverOverwritesAFile(t *testing.T) {
	home, o := home(t)
	file := writeFile(t, home, "shop")
	dangling := link(t, filepath.Join(home, "missing"), home, "dangling")
	circle := link(t, filepath.Join(home, "circle"), home, "circle")
	for _, root := range []string{file, filepath.Join(file, "below"), dangling, filepath.Join(dangling, "below"), circle} {
		_, err := Materialize(root, o)
		failuretest.Produced(t, err, failure.RootNotFolder)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "x" {
		t.Errorf("the file is now %q, %v", data, err)
	}
}

func TestMaterializeSaysThatANameIsTooLong(t *testing.T) {
	home, o := home(t)
	_, err := Materialize(filepath.Join(home, strings.Repeat("n", 300)), o)
	f := failuretest.Produced(t, err, failure.RootNotCreated)
	if !strings.Contains(f.Subject, "from --dir") {
		t.Errorf("the subject does not say where the path came from: %s", f.Subject)
	}
}

func TestConfirmableIsTheServersOwnTest(t *testing.T) {
	for _, path := range []string{"/home/ana/loja", "/home/ana/loja/", "/srv/x", "/tmp/x", "/variable", "/opt", "/home/a..b"} {
		if err := Confirmable(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{"", "relative", "/", "//", "/root/x", "/var/home/ana/x", "/data", "/usr/", "//etc/x",
		"/home/ana/../x", "/home/./x", "/home/a\x00b", `C:\Users\ana`} {
		failuretest.Produced(t, Confirmable(path), failure.RootNotConfirmable)
	}
}
