package runner

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/machinepolicy"
)

// TestFolderIsJudgedAnewAfterItWaited needs git and its http-backend. A folder waits behind a slow clone while this
// machine's policy changes.
func TestFolderIsJudgedAnewAfterItWaited(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	slow := slowHost(t, gitHost(t, home), home)
	e, path := newEngine(t, action.Known()...), filepath.Join(home, machinepolicy.FileName)
	creating(t, e, home, func(o *Options) { o.Lock = (&machinepolicy.Files{Own: path}).Lock })
	e.joined(t)
	e.send(t, action.EventWorkspaceCreate, fmt.Sprintf(`{"ref":"first","projectId":"p","segmento":"first","repoUrl":"%s/shop.git","env":%s}`, slow.URL, credential()))
	awaitFile(t, filepath.Join(home, "asked"))
	e.send(t, action.EventWorkspaceCreate, `{"ref":"second","projectId":"p","segmento":"second"}`)
	refuseWhatWaits(t, e, path)
	if err := os.WriteFile(filepath.Join(home, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := created(t, e); r.Ref != "first" || !r.Sucesso {
		t.Errorf("%+v", r)
	}
	r := created(t, e)
	failuretest.Produced(t, r.Failure, failure.MachinePolicyRefused)
	if _, err := os.Stat(filepath.Join(home, "code", "second")); err == nil {
		t.Error("the folder was made")
	}
}

// mirrorsInARow needs git, behind a program that waits for the file go. The round "second" waits behind "first", which
// has begun.
func mirrorsInARow(t *testing.T, e *engine, change func(o *Options, home string)) (home string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	real, err := osexec.LookPath("git")
	if err != nil {
		if os.Getenv("RUNNER_TEST_REQUIRE") == "1" {
			t.Fatal("git is not installed")
		}
		t.Skip("git is not installed")
	}
	waits, script := filepath.Join(home, "git"), `#!/bin/sh
touch '%[1]s/asked'
while [ ! -e '%[1]s/go' ]; do sleep 0.01; done
exec '%[2]s' "$@"
`
	if err := os.WriteFile(waits, fmt.Appendf(nil, script, home, real), 0o700); err != nil {
		t.Fatal(err)
	}
	e.mirror = filepath.Join(home, "copy")
	d := creating(t, e, home, func(o *Options) {
		o.Git.Program = waits
		change(o, home)
	})
	e.joined(t)
	if out, err := osexec.Command(real, "init", "-q", d.root).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	e.send(t, action.EventMirrorSync, fmt.Sprintf(`{"ref":"first","destino":%q}`, e.mirror))
	awaitFile(t, filepath.Join(home, "asked"))
	e.send(t, action.EventMirrorSync, fmt.Sprintf(`{"ref":"second","destino":%q}`, e.mirror))
	arrived(t, e)
	return home
}

// goOn lets what waits in home begin, and gives the answer to "second" once "first" was done.
func (e *engine) goOn(t *testing.T, home string) action.MirrorSyncResult {
	t.Helper()
	if err := os.WriteFile(filepath.Join(home, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var first, second action.MirrorSyncResult
	for _, r := range []*action.MirrorSyncResult{&first, &second} {
		if err := json.Unmarshal(e.hear(t, action.EventMirrorSyncResult).Payload, r); err != nil {
			t.Fatal(err)
		}
	}
	if first.Ref != "first" || !first.Sucesso || second.Ref != "second" {
		t.Fatalf("%+v, then %+v", first, second)
	}
	return second
}

// TestMirrorIsJudgedAnewAfterItWaited needs git. A round waits behind another one while this machine's policy changes.
func TestMirrorIsJudgedAnewAfterItWaited(t *testing.T) {
	e := newEngine(t, action.Known()...)
	policy := func(home string) string { return filepath.Join(home, machinepolicy.FileName) }
	home := mirrorsInARow(t, e, func(o *Options, home string) { o.Lock = (&machinepolicy.Files{Own: policy(home)}).Lock })
	refuseWhatWaits(t, e, policy(home))
	failuretest.Produced(t, e.goOn(t, home).Failure, failure.MachinePolicyRefused)
}

// TestMirrorThatWaitedNeedsTheGrantOfThePresentConnection needs git. A round waits behind another one while the connection
// falls; the next join grants the same destination, or another one.
func TestMirrorThatWaitedNeedsTheGrantOfThePresentConnection(t *testing.T) {
	for name, want := range map[string]failure.Name{"copy": "", "other": failure.MirrorNotGranted, "": failure.MirrorNotGranted} {
		e := newEngine(t, action.Known()...)
		home := mirrorsInARow(t, e, func(*Options, string) {})
		e.mu.Lock()
		if e.mirror = ""; name != "" {
			e.mirror = filepath.Join(home, name)
		}
		e.mu.Unlock()
		e.drop()
		e.joined(t)
		arrived(t, e)
		if r := e.goOn(t, home); want != "" {
			failuretest.Produced(t, r.Failure, want)
		} else if !r.Sucesso {
			t.Errorf("%+v", r)
		}
	}
}

// arrived returns when all that was sent before has been taken. The result of an earlier call may come once more, after
// a join.
func arrived(t *testing.T, e *engine) {
	t.Helper()
	ref := "behind " + rand.Text()
	e.exec(t, ref, "true", person)
	for {
		switch r := e.result(t); {
		case r.ExitCode != 0 || !strings.HasPrefix(r.Ref, "behind "):
			t.Fatalf("%+v", r)
		case r.Ref == ref:
			return
		}
	}
}

// refuseWhatWaits has this machine's policy allow commands alone, once all that was sent before waits for its turn.
func refuseWhatWaits(t *testing.T, e *engine, policyFile string) {
	t.Helper()
	arrived(t, e)
	if err := os.WriteFile(policyFile, []byte(`{"default":{"actions":["terminal"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestMachinePolicyDeclaresWhatItAllows: a capability is declared only when it works (protocol.md 3.4).
func TestMachinePolicyDeclaresWhatItAllows(t *testing.T) {
	for lock, want := range map[string]string{
		`{"default":{}}`: "exec espelho workspace",
		`{"default":{"actions":["terminal","workspace_create"]}}`: "exec workspace",
		`{"default":{"actions":["terminal","mirror_sync"]}}`:      "exec espelho",
		`{"default":{"confine":{"mode":"on"}}}`:                   "exec espelho", // a clone can't be confined
	} {
		home, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		e := newEngine(t)
		creating(t, e, home, withPolicy(t, home, lock))
		var join struct {
			Capacidades []string `json:"capacidades"`
		}
		if err := json.Unmarshal(e.hear(t, "join").Payload, &join); err != nil {
			t.Fatal(err)
		}
		own := slices.DeleteFunc(join.Capacidades, func(name string) bool { return strings.HasPrefix(name, "ext:") })
		if got := strings.Join(own, " "); got != want {
			t.Errorf("%s: %s", lock, got)
		}
	}
}
