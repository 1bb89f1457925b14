package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// An administrator who purges for a person removes what is that person's, wherever their home or project really lies, and
// nothing to which a link of theirs leads.
func TestPurgeStaysWhereThePersonsFilesLie(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, filepath.FromSlash(name)) }
	for _, name := range []string{"data/ana/.config/runner", "data/ana/.local", "precious/runner", "srv/shop"} {
		if err := os.MkdirAll(at(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"precious/runner/file", "precious/key", "srv/shop/key", "data/ana/.config/runner/config.json"} {
		if err := os.WriteFile(at(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"home": "data", "data/ana/.local/state": "precious"} {
		if err := os.Symlink(at(to), at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, home := range []string{at("home/ana"), at("data/ana")} {
		if err := removeBelow(home)(filepath.Join(home, ".local/state/runner")); err == nil {
			t.Errorf("what a link of %s leads to was removed", home)
		}
	}
	remove := removeBelow(at("home/ana"))
	for _, path := range []string{at("home/ana/.config/runner"), at("srv/shop/key")} {
		if err := remove(path); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
	for _, path := range []string{at("precious/runner/file"), at("precious/key"), at("data/ana/.local/state")} {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
}
