package main

import (
	"path/filepath"
	"slices"
	"testing"

	"brabo.dev/runner/runner"
	"brabo.dev/runner/runner/pairing"
)

// Only what was said on this machine about the folder that a project of the hub here has counts beside it.
func TestFoldersBesideAProjectAreThoseOfThisMachine(t *testing.T) {
	home := inHome(t)
	src, err := processSources()
	if err != nil {
		t.Fatal(err)
	}
	root, scratch := filepath.Join(home, "shop"), filepath.Join(home, "scratch")
	for name, c := range map[string]struct {
		server  string
		project runner.Project
		want    []string
	}{
		"as it was named":  {"http://127.0.0.1:4680", runner.Project{ID: "p", Root: root}, []string{scratch}},
		"another folder":   {"http://127.0.0.1:4680", runner.Project{ID: "p", Root: home}, nil},
		"another project":  {"http://127.0.0.1:4680", runner.Project{ID: "q", Root: root}, nil},
		"a server far off": {"https://hub.example", runner.Project{ID: "p", Root: root}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := host{sources: src, client: &pairing.Client{BaseURL: c.server}}
			if got := h.alsoInside(c.project); got != nil {
				t.Errorf("%q before anything was said", got)
			}
			here := pairing.LocalProjects{"p": {Root: root, AlsoInside: []string{scratch}}}
			if err := here.Write(src.Folders().Config); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = pairing.LocalProjects{}.Write(src.Folders().Config) })
			if got := h.alsoInside(c.project); !slices.Equal(got, c.want) {
				t.Errorf("%q", got)
			}
		})
	}
}
