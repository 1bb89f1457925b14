package runner

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/workspace/git"
	"brabo.dev/runner/workspace/git/gittest"
)

// testGit is a git whose credential helper is this test's binary.
func testGit(t testing.TB) *git.Git {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &git.Git{Helper: []string{self, "git-credential"}}
}

// gitHost is a host with shop.git, in which README lies. It needs git and its http-backend.
func gitHost(t testing.TB, home string) *gittest.Host {
	t.Helper()
	folder := filepath.Join(home, "host")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	h := gittest.Serve(t, folder, home)
	path, _ := h.Bare(t, "shop.git")
	cmd := exec.Command("bash", "-ec", `git init -q -b main w; cd w; echo one >README; git add .; git -c user.name=a -c user.email=a@b commit -qm one
		git push -q "$1" main; cd ..; rm -rf w`, "bash", path)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "HOME="+home, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return h
}

// slowHost serves what h does, but touches asked in home when it is asked, and answers when go is there.
func slowHost(t testing.TB, h *gittest.Host, home string) *gittest.Host {
	t.Helper()
	slow := gittest.Serve(t, h.Folder, home)
	slow.Before = func(r *http.Request) {
		if err := os.WriteFile(filepath.Join(home, "asked"), nil, 0o600); err != nil {
			t.Error(err)
		}
		for tick := time.NewTicker(2 * time.Millisecond); ; {
			if _, err := os.Stat(filepath.Join(home, "go")); err == nil {
				return
			}
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
	}
	return slow
}

// credential is env with what the hosts want.
func credential() string {
	return fmt.Sprintf(`{"BRABO_GIT_USERNAME":%q,"BRABO_GIT_TOKEN":%q}`, gittest.Username, gittest.Token)
}

// credentialFor is env with what a push wants, which names the host.
func credentialFor(h *gittest.Host) string {
	return strings.TrimSuffix(credential(), "}") + fmt.Sprintf(`,%q:%q}`, git.HostVariable, h.Name)
}

// gitHost starts a host for a row.
func (p *contractPlay) gitHost() {
	h := gitHost(p.t, p.home)
	slow := slowHost(p.t, h, p.home)
	p.more = strings.NewReplacer("$git", h.URL, "$slow", slow.URL, "$credential", credential(),
		"$at_git", credentialFor(h), "$at_slow", credentialFor(slow))
}

// creating starts a daemon that makes folders below home/code.
func creating(t *testing.T, e *engine, home string, change ...func(*Options)) *daemon {
	t.Helper()
	return startDaemonIn(t, e, home, append([]func(*Options){func(o *Options) {
		o.Git = testGit(t)
		o.Commands.Inherited = append(o.Commands.Inherited, "HOME="+home)
		o.Workspaces = Workspaces{Base: home + "/code", Root: home + "/project"}
	}}, change...)...)
}

func created(t *testing.T, e *engine) action.WorkspaceCreateResult {
	t.Helper()
	var r action.WorkspaceCreateResult
	if err := json.Unmarshal(e.hear(t, action.EventWorkspaceCreateResult).Payload, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCloneKeepsItsCredentialToItself needs git and its http-backend. It looks at every argument of every process that
// a clone starts, at every file that is left, and at all that is said.
func TestCloneKeepsItsCredentialToItself(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := gitHost(t, home)
	traces := filepath.Join(home, "traces")
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	// git tells the arguments of itself and of its children, the helper among them, into a folder.
	wrapper := filepath.Join(home, "git")
	script := fmt.Sprintf("#!/bin/sh\nmkdir -p '%s'\nexport GIT_TRACE2_EVENT='%s'\nexec '%s' \"$@\"\n", traces, traces, real)
	if err := os.WriteFile(wrapper, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(home, "state")
	kept := openJournal(t, state)
	e := newEngine(t, action.Known()...)
	d := creating(t, e, home, func(o *Options) { o.Git.Program, o.Ledger = wrapper, kept })
	e.joined(t)
	var said strings.Builder
	secret := gittest.Token + gittest.Token // long enough to be a token where a name is expected
	inAddress := strings.Replace(h.URL, "https://", "https://ana:"+secret+"@", 1) + "/shop.git"
	for _, c := range []struct{ ref, segment, address, env string }{
		{"a", `"a"`, h.URL + "/shop.git", credential()},
		{"b", `"b"`, h.URL + "/gone.git", credential()},
		{"password", `"c"`, inAddress, "{}"},
		{"user", `"d"`, strings.Replace(inAddress, "ana:", "", 1), "{}"},
		{"no address", `"e"`, strings.Replace(inAddress, "ana:", "x:y/", 1), "{}"},
		{"malformed", "7", inAddress, "{}"},
		{strings.Repeat("long", 100), `"f"`, inAddress, "{}"},
	} {
		e.send(t, action.EventWorkspaceCreate, fmt.Sprintf(`{"ref":%q,"projectId":"p","segmento":%s,"repoUrl":%q,"env":%s}`, c.ref, c.segment, c.address, c.env))
		for timeout, event := time.After(60*time.Second), ""; event != action.EventWorkspaceCreateResult; {
			select {
			case m := <-e.heard:
				said.Write(m.Payload)
				event = m.Event
			case <-timeout:
				t.Fatal("no result came")
			}
		}
	}
	d.stop()
	if err := d.wait(t); err != nil {
		t.Fatal(err)
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	said.WriteString(d.log.String())
	if heard := h.Heard(); len(heard) == 0 || heard[0] != gittest.Username+":"+gittest.Token {
		t.Fatalf("the host heard %q, so nothing was shown", heard)
	}
	if _, err := os.Stat(filepath.Join(home, "code", "a", "README")); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(said.String(), gittest.Token) {
		t.Error("the credential was said")
	}
	helped := false
	err = filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), gittest.Token) {
			t.Errorf("the credential is in %s", path)
		}
		helped = helped || strings.HasPrefix(path, traces) && strings.Contains(string(data), "git-credential' get")
		return err
	})
	if err != nil || !helped {
		t.Errorf("%v; the helper's arguments were looked at: %v", err, helped)
	}
}

// TestStoppedCloneIsEndedAndSaid needs git and its http-backend: a daemon that stops lets a clone go on for its grace,
// ends it then, and leaves an empty folder.
func TestStoppedCloneIsEndedAndSaid(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	slow := slowHost(t, gitHost(t, home), home)
	e := newEngine(t, action.ExtAck)
	d := creating(t, e, home, func(o *Options) { o.DrainGrace = 10 * time.Millisecond })
	e.joined(t)
	e.send(t, action.EventWorkspaceCreate, fmt.Sprintf(`{"ref":"a","projectId":"p","segmento":"shop","repoUrl":"%s/shop.git","env":%s}`, slow.URL, credential()))
	awaitFile(t, filepath.Join(home, "asked"))
	d.stop()
	r := created(t, e)
	failuretest.Produced(t, r.Failure, failure.Cancelled)
	if r.Motivo != action.MotivoGit {
		t.Errorf("motivo %q", r.Motivo)
	}
	if err := d.wait(t); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(home, "code", "shop")); err != nil || len(left) > 0 {
		t.Errorf("it left %v (%v)", left, err)
	}
	if ended := d.m.Ended(); ended.Cancelled != 1 {
		t.Errorf("%+v", ended)
	}
}

// TestMachinePolicyBindsTheMakingOfFolders needs git.
func TestMachinePolicyBindsTheMakingOfFolders(t *testing.T) {
	for name, lock := range map[string]string{
		"type": `{"default":{"actions":["terminal"]}}`, "folder": `{"default":{"roots":["BASE/project","BASE/code/allowed"]}}`,
	} {
		home, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		e := newEngine(t, action.Known()...)
		creating(t, e, home, withPolicy(t, home, lock))
		e.joined(t)
		e.send(t, action.EventWorkspaceCreate, `{"ref":"a","projectId":"p","segmento":"other"}`)
		failuretest.Produced(t, created(t, e).Failure, failure.MachinePolicyRefused)
		e.send(t, action.EventWorkspaceCreate, `{"ref":"b","projectId":"p","segmento":"allowed/one"}`)
		if r := created(t, e); r.Sucesso != (name == "folder") {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// awaitFile waits until a file is there.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come", path)
		}
	}
}
