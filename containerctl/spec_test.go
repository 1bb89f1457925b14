package containerctl

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func fullSpec() map[string]any {
	return map[string]any{
		"workspaceDirName": "loja", "projectId": "p1", "projectSlug": "loja", "workspaceId": "w1",
		"imagem": "docker.io/library/debian:12", "imagemVersao": 3, "rede": "egress",
		"cpus": 1.5, "memoriaMb": 2048, "pidsLimit": 256, "usuario": map[string]any{"uid": 1000, "gid": 1001},
	}
}

func parse(t testing.TB, fields map[string]any) (Spec, error) {
	t.Helper()
	raw, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return ParseSpec(raw, "p1")
}

func TestSpecIsReadAsTheContractSays(t *testing.T) {
	want := Spec{WorkspaceDirName: "loja", ProjectID: "p1", ProjectSlug: "loja", WorkspaceID: "w1",
		Image: "docker.io/library/debian:12", ImageVersion: "3", Network: NetworkEgress, CPUs: 1.5, MemoryMiB: 2048, Pids: 256,
		User: &User{UID: 1000, GID: 1001}}
	for name, change := range map[string]func(m map[string]any, w *Spec){
		"as it is":                   func(map[string]any, *Spec) {},
		"unknown fields are ignored": func(m map[string]any, _ *Spec) { m["privileged"], m["mounts"] = true, []string{"/:/host"} },
		"strings are trimmed": func(m map[string]any, _ *Spec) {
			m["imagem"], m["rede"] = " docker.io/library/debian:12\n", "\tegress "
		},
		"numbers as text":          func(m map[string]any, _ *Spec) { m["cpus"], m["memoriaMb"], m["pidsLimit"] = " 1.5 ", "2048", "2.56e2" },
		"projectId from the topic": func(m map[string]any, _ *Spec) { delete(m, "projectId") },
		"projectId null":           func(m map[string]any, _ *Spec) { m["projectId"] = nil },
		"no user":                  func(m map[string]any, w *Spec) { m["usuario"] = nil; w.User = nil },
		"absent user":              func(m map[string]any, w *Spec) { delete(m, "usuario"); w.User = nil },
		"largest ids": func(m map[string]any, w *Spec) {
			m["usuario"] = map[string]any{"uid": 2147483647, "gid": "1"}
			w.User = &User{2147483647, 1}
		},
		"version as text":        func(m map[string]any, w *Spec) { m["imagemVersao"] = " 2026-01 "; w.ImageVersion = "2026-01" },
		"version keeps its form": func(m map[string]any, w *Spec) { m["imagemVersao"] = 1.5; w.ImageVersion = "1.5" },
		"ceilings themselves are fine": func(m map[string]any, w *Spec) {
			m["cpus"], m["memoriaMb"], m["pidsLimit"] = 8, 16384, 4096
			w.CPUs, w.MemoryMiB, w.Pids = 8, 16384, 4096
		},
		"longest folder name": func(m map[string]any, w *Spec) {
			w.WorkspaceDirName = strings.Repeat("a_-Z", 16)
			m["workspaceDirName"] = w.WorkspaceDirName
		},
		"registry with a port": func(m map[string]any, w *Spec) { w.Image = "localhost:5000/a/b:1"; m["imagem"] = w.Image },
		"a digest": func(m map[string]any, w *Spec) {
			w.Image = "a/b@sha256:" + strings.Repeat("0a", 32)
			m["imagem"] = w.Image
		},
		"latest with a digest": func(m map[string]any, w *Spec) {
			w.Image = "b:latest@sha256:" + strings.Repeat("0a", 32)
			m["imagem"] = w.Image
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, w := fullSpec(), want
			change(m, &w)
			got, err := parse(t, m)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(w, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestSpecFieldsAreRefusedByName(t *testing.T) {
	long := strings.Repeat("a", 65)
	bad := map[string][]any{
		"workspaceDirName": {nil, "", " ", "a/b", "..", "a b", "é", long, 5, "a\x00", "-a\n-b", "a.b"},
		"projectId":        {"p2", 7, "", " "},
		"projectSlug":      {nil, "", " ", 1, []string{"a"}},
		"workspaceId":      {nil, "", 1},
		"imagemVersao":     {nil, "", true, map[string]any{}},
		"rede":             {nil, "", "host", "bridge", "NONE", "container:x", 0},
		"cpus":             {nil, 0, -1, "", "two", "0x2", "Infinity", "NaN", true, []int{1}},
		"memoriaMb":        {nil, 0, -1, "1_000", "1 024"},
		"pidsLimit":        {nil, 0, -5, 1.5, "0.5"},
		"usuario":          {"1000:1000", 5, []int{1, 2}, true},
		"usuario.uid":      {map[string]any{"gid": 1}, map[string]any{"uid": 0, "gid": 1}, map[string]any{"uid": -1, "gid": 1}, map[string]any{"uid": 1.5, "gid": 1}, map[string]any{"uid": 2147483648, "gid": 1}, map[string]any{"uid": "root", "gid": 1}},
		"usuario.gid":      {map[string]any{"uid": 1}, map[string]any{"uid": 1, "gid": 0}, map[string]any{"uid": 1, "gid": nil}},
		"imagem": {nil, "", 5, "debian", "debian:latest", "localhost:5000/debian", "--privileged:1", "-v:1", "a:1 b", "a:1;rm", "a:1&b", "a:1|b",
			"a:1$b", "a:1(b", "a:1)b", "a:1<b", "a:1>b", "a:1\"b", "a:1'b", "a:1*b", "a:1?b", "a:1!b", "a:1#b", "a:1`b", "a:1\\b", "a:1\tb", "a:1\nb", "a:1\rb",
			"a:1\x00b", "a:", ":1", "A/B:1", "a@sha256:12", "a/" + strings.Repeat("b", 509) + ":1", "https://a/b:1"},
	}
	for field, values := range bad {
		for _, v := range values {
			m := fullSpec()
			name, _, _ := strings.Cut(field, ".")
			m[name] = v
			if v == nil {
				delete(m, name)
			}
			_, err := parse(t, m)
			if f := failuretest.Produced(t, err, failure.SpecInvalid); f.Subject != "spec."+field {
				t.Errorf("%s = %v: the subject is %s", field, v, f.Subject)
			}
		}
	}
	for _, raw := range []string{"", "null", "[]", `"x"`, "5", "{", `{"cpus":}`} {
		_, err := ParseSpec(json.RawMessage(raw), "p1")
		failuretest.Produced(t, err, failure.SpecInvalid)
	}
}

func TestCeilingsAreRefusedAndNeverLowered(t *testing.T) {
	for field, values := range map[string][]any{"cpus": {8.001, "9", 1e300}, "memoriaMb": {16385, "16384.5"}, "pidsLimit": {4097, 1e18}} {
		for _, v := range values {
			m := fullSpec()
			m[field] = v
			_, err := parse(t, m)
			if f := failuretest.Produced(t, err, failure.SpecOverCeiling); f.Subject != "spec."+field {
				t.Errorf("%s = %v: the subject is %s", field, v, f.Subject)
			}
		}
	}
}

func TestProjectIDIsNeededWhereNoTopicHasIt(t *testing.T) {
	m := fullSpec()
	delete(m, "projectId")
	raw, _ := json.Marshal(m)
	_, err := ParseSpec(raw, "")
	failuretest.Produced(t, err, failure.SpecInvalid)
}

func TestWorkspaceDirNameOfStopAndRemove(t *testing.T) {
	if got, err := ParseWorkspaceDirName(json.RawMessage(`" loja "`)); got != "loja" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, raw := range []string{``, `null`, `5`, `"../x"`, `""`} {
		_, err := ParseWorkspaceDirName(json.RawMessage(raw))
		failuretest.Produced(t, err, failure.SpecInvalid)
	}
}

// FuzzParseSpec holds every Spec that is let through to the contract's rules, whatever came.
func FuzzParseSpec(f *testing.F) {
	raw, _ := json.Marshal(fullSpec())
	f.Add(raw)
	for _, field := range []string{"cpus", "imagem", "usuario", "rede", "imagemVersao"} {
		m := maps.Clone(fullSpec())
		m[field] = "1e-400"
		raw, _ := json.Marshal(m)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := ParseSpec(raw, "p1")
		if err != nil {
			if failure.As(err) == nil {
				t.Fatalf("not a named failure: %v", err)
			}
			return
		}
		if !dirName.MatchString(s.WorkspaceDirName) || s.ProjectID != "p1" || s.ProjectSlug == "" || s.WorkspaceID == "" ||
			imageFault(s.Image) != "" || s.ImageVersion == "" || s.Network != NetworkNone && s.Network != NetworkEgress ||
			!(s.CPUs > 0 && s.CPUs <= 8) || !(s.MemoryMiB > 0 && s.MemoryMiB <= 16384) || s.Pids < 1 || s.Pids > 4096 {
			t.Errorf("let through: %+v", s)
		}
		if u := s.User; u != nil && (u.UID < 1 || u.GID < 1 || u.UID > maxID || u.GID > maxID) {
			t.Errorf("let through: %+v", *u)
		}
	})
}
