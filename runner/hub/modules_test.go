package hub

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestMinimumIsTheSumFlooredWhileAModuleIsSilent(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       Resources
	}{
		{"no file", "", Resources{1, 1024, 256}},
		{"no module", `[]`, Resources{1, 1024, 256}},
		{"one that says nothing", `[{"name":"api"}]`, Resources{1, 1024, 256}},
		{"all say everything", `[{"name":"api","cpus":0.25,"memoriaMb":128,"pidsLimit":32},{"name":"web","cpus":0.25,"memoriaMb":64,"pidsLimit":16}]`, Resources{0.5, 192, 48}},
		{"one is silent about memory", `[{"name":"api","cpus":0.25,"memoriaMb":128,"pidsLimit":32},{"name":"web","cpus":0.25,"pidsLimit":16}]`, Resources{0.5, 1024, 48}},
		{"a sum above the floor stays", `[{"name":"api","cpus":3,"memoriaMb":4096,"pidsLimit":500},{"name":"web"}]`, Resources{3, 4096, 500}},
	} {
		root := t.TempDir()
		if c.file != "" {
			writeModules(t, root, c.file)
		}
		modules, err := LoadModules(root)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if diff := cmp.Diff(c.want, Minimum(modules)); diff != "" {
			t.Error(c.name, diff)
		}
	}
}

func writeModules(t *testing.T, root, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, ModulesFile), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestBadModuleMapIsNamed(t *testing.T) {
	for _, content := range []string{
		`{`, `{}`, `[] []`, `[1]`, `[{"name":""}]`, `[{"nome":"api"}]`, `[{"name":"api","cpus":0}]`, `[{"name":"api","memoriaMb":-1}]`,
		`[{"name":"api","pidsLimit":1.5}]`, strings.Repeat(" ", maxModules+1) + "[]",
	} {
		root := t.TempDir()
		writeModules(t, root, content)
		_, err := LoadModules(root)
		failuretest.Produced(t, err, failure.ModulesFileInvalid)
	}
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, ModulesFile), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := LoadModules(root)
	failuretest.Produced(t, err, failure.ModulesFileInvalid)
}

func TestSpecIsCompletedAndNeverBelowTheMinimum(t *testing.T) {
	p := Project{ID: "shop", DirName: "shop", Root: t.TempDir()}
	writeModules(t, p.Root, `[{"name":"api","cpus":2,"memoriaMb":512,"pidsLimit":64}]`)
	more, less := 3.0, 1.5
	got, err := specFor(p, p.Root, ContainerSpec{Image: "alpine:3", CPUs: &more})
	if err != nil || got.CPUs != 3 || got.MemoryMiB != 512 || got.Pids != 64 || got.Network != "none" || got.WorkspaceDirName != "shop" {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = specFor(p, p.Root, ContainerSpec{Image: "alpine:3", CPUs: &less})
	failuretest.Produced(t, err, failure.ResourcesBelowMinimum)
}
