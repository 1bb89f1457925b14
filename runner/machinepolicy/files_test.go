package machinepolicy

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestChangeOfAFileCountsForTheNextAction(t *testing.T) {
	folder := t.TempDir()
	f := &Files{Own: filepath.Join(folder, FileName), Managed: filepath.Join(folder, "managed.json")}
	terminals := func() bool {
		t.Helper()
		l, err := f.Lock("p")
		if err != nil {
			t.Fatal(err)
		}
		return l.Terminals()
	}
	refused := func() {
		t.Helper()
		for range 2 {
			_, err := f.Lock("p")
			failuretest.Produced(t, err, failure.MachinePolicyInvalid)
		}
	}
	if !terminals() {
		t.Error("no file refuses terminals")
	}
	write(t, f.Own, `{"default":{"terminals":false}}`, 0o600)
	if terminals() {
		t.Error("a new file does not count")
	}
	write(t, f.Own, `{"default":{"terminals":true }}`, 0o600) // of the same length
	if !terminals() {
		t.Error("a change does not count")
	}
	write(t, f.Managed, `{"default":{"terminals":false}}`, 0o644)
	if terminals() {
		t.Error("the managed file does not count")
	}
	for _, broken := range []string{"", "{", `{"terminals":true}`} {
		write(t, f.Own, broken, 0o600)
		refused()
	}
	if err := os.Remove(f.Own); err != nil {
		t.Fatal(err)
	}
	refused() // it was there
	write(t, f.Own, `{}`, 0o600)
	if terminals() {
		t.Error("the managed file is forgotten")
	}
}

// TestAttackPolicyFileThatIsNotTheOwnersAlone has others put something in the place of the file.
func TestAttackPolicyFileThatIsNotTheOwnersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no modes here")
	}
	for name, put := range map[string]func(t *testing.T, path string){
		"a file that others may read":   func(t *testing.T, path string) { write(t, path, `{}`, 0o644) },
		"a file that others may change": func(t *testing.T, path string) { write(t, path, `{}`, 0o622) },
		"a link": func(t *testing.T, path string) {
			write(t, path+".real", `{}`, 0o600)
			if err := os.Symlink(path+".real", path); err != nil {
				t.Fatal(err)
			}
		},
		"a link that leads nowhere": func(t *testing.T, path string) {
			if err := os.Symlink("/nowhere", path); err != nil {
				t.Fatal(err)
			}
		},
		"a folder": func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		},
		"a device":      func(t *testing.T, path string) { linkTo(t, "/dev/zero", path) },
		"too large one": func(t *testing.T, path string) { write(t, path, string(make([]byte, largestFile+1)), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), FileName)
			put(t, path)
			_, err := (&Files{Own: path}).Lock("p")
			failuretest.Produced(t, err, failure.MachinePolicyInvalid)
		})
	}
	path := filepath.Join(t.TempDir(), FileName)
	write(t, path, `{}`, 0o644)
	if _, err := (&Files{Managed: path}).Lock("p"); err != nil {
		t.Error(err) // all may read the machine's
	}
	write(t, path, `{}`, 0o664)
	_, err := (&Files{Managed: path}).Lock("p")
	failuretest.Produced(t, err, failure.MachinePolicyInvalid)
}

func linkTo(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func TestManagedFileIsTheSystems(t *testing.T) {
	if path := ManagedFile(`C:\ProgramData`); filepath.Base(path) != FileName || !filepath.IsAbs(path) {
		t.Error(path)
	}
}

func BenchmarkLock(b *testing.B) {
	path := filepath.Join(b.TempDir(), FileName)
	if err := os.WriteFile(path, []byte(everything), 0o600); err != nil {
		b.Fatal(err)
	}
	f := &Files{Own: path, Managed: path}
	for b.Loop() {
		if _, err := f.Lock("p"); err != nil {
			b.Fatal(err)
		}
	}
}
