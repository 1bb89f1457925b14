package hub

import (
	"os"
	"path/filepath"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/policy"
)

func TestProjectsFileDecides(t *testing.T) {
	root := t.TempDir()
	p := Project{ID: "p", Root: root}
	file := filepath.Join(root, policy.FileName)
	for _, c := range []struct {
		file, kind, command string
		want                policy.Rule
	}{
		{"", "terminal", "git status", policy.Default},
		{`{"allow":["Terminal(git status)"]}`, "terminal", "git status", policy.FileAllow},
		{`{"allow":["Terminal(git status)"]}`, "terminal", "git status; git push", policy.CompoundUnmatched},
		{`{"deny":["Terminal(curl)"]}`, "terminal", `bash -c "curl x"`, policy.FileDeny},
		{`{"allow":["ContainerRemove()"]}`, "container_remove", "", policy.CeilingContainerRemove},
	} {
		if err := os.WriteFile(file, []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		if c.file == "" {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		d, err := FilePolicy{policy.Owner}.Decide(p, Proposal{Type: c.kind, Command: c.command})
		if err != nil || d.Rule != c.want {
			t.Errorf("%s with %q: %+v, %v; want %s", c.command, c.file, d, err, c.want)
		}
	}
	if err := os.WriteFile(file, []byte(`{"deny":`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := FilePolicy{policy.Owner}.Decide(p, Proposal{Type: "terminal", Command: "ls"})
	failuretest.Produced(t, err, failure.PermissionsFileInvalid)
}
