package journal

import (
	"crypto/sha256"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const (
	server  = "https://hub"
	project = "p"
)

func key(ref string) Key { return Key{server, project, "exec", ref} }

func result(text string) Result {
	return Result{"exec_result", json.RawMessage(`{"ref":"x","exitCode":0,"output":"` + text + `"}`)}
}

func command(ref, text string) Action {
	payload, err := json.Marshal(map[string]any{"ref": ref, "command": text})
	if err != nil {
		panic(err)
	}
	return Action{Key: key(ref), Digest: sha256.Sum256([]byte(text)), Payload: payload}
}

func ordinary(t testing.TB) Options {
	return Options{Folder: filepath.Join(t.TempDir(), "state"), Keep: 720 * time.Hour, Size: 200 << 20, Reserve: 64 << 10}
}

func open(t testing.TB, o Options) *Journal {
	t.Helper()
	j, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// must makes the error of a step that has to work the end of the test.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func receive(t testing.TB, j *Journal, a Action) Known {
	t.Helper()
	known, err := j.Receive(a)
	must(t, err)
	return known
}

// done takes an action the whole way up to its result.
func done(t testing.TB, j *Journal, ref string) {
	t.Helper()
	receive(t, j, command(ref, "ls"))
	must(t, j.Begin(key(ref)))
	must(t, j.Finish(key(ref), result(ref)))
}

func outbox(t testing.TB, j *Journal) []Due {
	t.Helper()
	var all []Due
	for after := uint64(0); ; after = all[len(all)-1].Serial {
		due, err := j.Due(server, project, after)
		must(t, err)
		if len(due) == 0 {
			return all
		}
		all = append(all, due...)
	}
}

func refs(t testing.TB, j *Journal) []string {
	t.Helper()
	var refs []string
	for _, d := range outbox(t, j) {
		refs = append(refs, d.Key.Ref)
	}
	return refs
}

// files reads all that the journal wrote.
func files(t testing.TB, folder string) []byte {
	t.Helper()
	var all []byte
	paths, err := filepath.Glob(filepath.Join(folder, fileName+"*"))
	must(t, err)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		must(t, err)
		all = append(all, content...)
	}
	return all
}
