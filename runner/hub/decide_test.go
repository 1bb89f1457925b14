package hub

import (
	"os"
	"path/filepath"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

func TestProjectsFileDecides(t *testing.T) {
	h := newRuledHub(t)
	file := filepath.Join(h.root, policy.FileName)
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
		h.permissions(t, c.file)
		a, err := h.Propose(Proposal{ProjectID: "p", Type: c.kind, Command: c.command})
		if err != nil || a.Rule != c.want {
			t.Errorf("%s with %q: %+v, %v; want %s", c.command, c.file, a, err, c.want)
		}
	}
	if err := os.WriteFile(file, []byte(`{"deny":`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := h.Propose(Proposal{ProjectID: "p", Type: "terminal", Command: "ls"})
	failuretest.Produced(t, err, failure.PermissionsFileInvalid)
}

func TestRoleIsLookedAtBeforeAnyFile(t *testing.T) {
	h := newRuledHub(t)
	h.permissions(t, `{"deny":`)
	viewer := Principal{Kind: kindAgent, ID: "x", Role: policy.Viewer}
	a, err := h.ProposeAs(viewer, Proposal{ProjectID: "p", Type: "terminal", Command: "ls"})
	if err != nil || a.Status != Denied || a.Rule != policy.RoleMinimum {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestRowOfTheAgentAndTypeOutranksTheWildcards(t *testing.T) {
	for _, c := range []struct {
		rows   []store.Autonomy
		mode   policy.Verdict
		origin string
	}{
		{nil, "", ""},
		{[]store.Autonomy{{Agent: "dev-api", Type: "*", Mode: "auto_approve"}, {Agent: "dev-api", Type: "terminal", Mode: "deny"}}, policy.Deny, "specific"},
		{[]store.Autonomy{{Agent: "*", Type: "terminal", Mode: "deny"}, {Agent: "dev-api", Type: "*", Mode: "auto_approve"}}, policy.AutoApprove, "wildcard"},
		{[]store.Autonomy{{Agent: "*", Type: "*", Mode: "auto_approve"}, {Agent: "*", Type: "terminal", Mode: "deny"}}, policy.Deny, "specific"},
		{[]store.Autonomy{{Agent: "other", Type: "terminal", Mode: "deny"}}, "", ""},
	} {
		if got := autonomyOf(c.rows, "dev-api", "terminal"); got.Mode != c.mode || got.Origin != c.origin {
			t.Errorf("%v: %+v", c.rows, got)
		}
	}
}

func TestPlaceAndScopeComeFromOneMode(t *testing.T) {
	h := newRuledHub(t)
	h.c.WorkspacesRoot, h.c.ProjectsBase = "/home/ana/managed", "/home/ana"
	for _, c := range []struct {
		mode                 Mode
		file, root, relative string
	}{
		{ModeMounted, "/home/ana/code/shop/permissions.json", "/home/ana/code/shop", "mounted:code/shop"},
		{ModeRunner, "/home/ana/managed/shop-1/permissions.json", "/home/ana/code/shop", "runner:shop-1"},
		{ModeContainer, "/home/ana/managed/shop-1/permissions.json", "/home/ana/managed/shop-1", "container:shop-1"},
	} {
		got, err := h.place(Project{ID: "x", Mode: c.mode, Root: "/home/ana/code/shop", DirName: "shop-1"})
		if err != nil || got != (Place{c.file, c.root, c.relative}) {
			t.Errorf("%s: %+v, %v", c.mode, got, err)
		}
	}
	for _, root := range []string{"/", "relative", "/home/../etc", "/etc/shop", "/home/ana/\x00"} {
		_, err := h.place(Project{Mode: ModeMounted, Root: root})
		failuretest.Produced(t, err, failure.RootNotConfirmable)
	}
	h.c.Ours = []string{"/home/ana/.config/runner"}
	for _, root := range []string{"/home/ana/.config/runner", "/home/ana/.config/runner/x", "/home/ana"} {
		_, err := h.place(Project{Mode: ModeMounted, Root: root})
		failuretest.Produced(t, err, failure.RootHoldsOurs)
	}
}
