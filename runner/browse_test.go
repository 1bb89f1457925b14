package runner

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/workspace"
)

// browsing gives a daemon that may list what is below a folder with a few entries.
func browsing(t *testing.T, e *engine) (home string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"b", "a"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "0"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	startDaemon(t, e, func(o *Options) { o.Browse = workspace.Browse{Home: home, MaxEntries: 3} })
	e.joined(t)
	return home
}

func (e *engine) list(t *testing.T, payload string) action.FsListDirReply {
	t.Helper()
	e.send(t, action.EventFsListDir, payload)
	var r action.FsListDirReply
	if err := json.Unmarshal(e.hear(t, action.EventFsListDirReply).Payload, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFoldersAreListedForAPicker(t *testing.T) {
	e := newEngine(t)
	home := browsing(t, e)
	e.send(t, action.EventFsHomeDir, `{"ref":"h"}`)
	var where action.FsHomeDirReply
	if err := json.Unmarshal(e.hear(t, action.EventFsHomeDirReply).Payload, &where); err != nil || where != (action.FsHomeDirReply{Ref: "h", Path: home}) {
		t.Fatalf("%+v, %v", where, err)
	}
	got := e.list(t, fmt.Sprintf(`{"ref":"l","path":%q}`, home))
	want := action.FsListDirReply{Ref: "l", Path: home, Entradas: []action.Entrada{{Nome: "a", IsDir: true}, {Nome: "b", IsDir: true}, {Nome: "0"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(filepath.Join(home, "1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := e.list(t, fmt.Sprintf(`{"ref":"l","path":%q}`, home)); len(got.Entradas) != 3 || got.Erro == "" {
		t.Errorf("%+v", got)
	} else {
		failuretest.Produced(t, got.Failure, failure.ListingCut)
	}
}

func TestFolderThatMayNotBeListedIsAnsweredByName(t *testing.T) {
	e := newEngine(t)
	home := browsing(t, e)
	for payload, want := range map[string]failure.Name{
		`{"ref":"l"}`:                               failure.MalformedAction,
		`{"ref":"l","path":"src"}`:                  failure.PathInvalid,
		`{"ref":"l","path":"/etc"}`:                 failure.BrowseOutside,
		`{"ref":"l","path":"` + home + `/missing"}`: failure.FolderMissing,
	} {
		got := e.list(t, payload)
		if got.Ref != "l" || got.Entradas == nil || got.Erro == "" {
			t.Errorf("%s: %+v", payload, got)
		}
		failuretest.Produced(t, got.Failure, want)
	}
}
