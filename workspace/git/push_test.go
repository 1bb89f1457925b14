package git

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// Needs git and its http-backend.
func TestPushNamesWhatTheOtherSideSays(t *testing.T) {
	b := newBed(t)
	h := b.newHost(t, "host")
	root, place := b.project(t)
	path, address := h.Bare(t, "shop.git")
	credential := Credential{username, token, h.Name}
	_, err := b.Push(patience(t), place, Push{Branch: "main", Credential: credential})
	failuretest.Produced(t, err, failure.RemoteNotFound)
	b.raw(t, root, "remote", "add", "origin", address)
	b.raw(t, root, "remote", "add", "gone", h.URL+"/gone.git")
	b.raw(t, root, "remote", "add", "local", path)
	b.raw(t, root, "remote", "add", "program", "ext::sh -c touch% "+filepath.Join(b.home, "ran"))
	closed := httptest.NewTLSServer(http.NotFoundHandler())
	closed.Close()
	b.raw(t, root, "remote", "add", "closed", closed.URL+"/x.git")
	for _, tt := range []struct {
		push Push
		want failure.Name
	}{
		{Push{Remote: "gone", Branch: "main", Credential: credential}, failure.RemoteNotFound},
		{Push{Remote: address, Branch: "main", Credential: credential}, failure.RemoteNotFound},
		{Push{Remote: "--all", Branch: "main", Credential: credential}, failure.RemoteNotFound},
		{Push{Remote: "local", Branch: "main"}, failure.GitProtocolRefused},
		{Push{Remote: "program", Branch: "main"}, failure.GitProtocolRefused},
		{Push{Remote: "closed", Branch: "main"}, failure.RemoteUnreachable},
		{Push{Branch: "nowhere", Credential: credential}, failure.RevisionNotFound},
		{Push{Branch: "main:other", Credential: credential}, failure.BranchInvalid},
		{Push{Branch: "--force", Credential: credential}, failure.BranchInvalid},
		{Push{Branch: "main"}, failure.GitAuthFailed},
		{Push{Branch: "main", Credential: Credential{username, "wrong", h.Name}}, failure.GitAuthFailed},
		{Push{Branch: "main", Credential: Credential{username, token, "other.example"}}, failure.GitAuthFailed},
		{Push{Branch: "main", Credential: Credential{username, token, ""}}, failure.GitAuthFailed},
	} {
		_, err := b.Push(patience(t), place, tt.push)
		f := failuretest.Produced(t, err, tt.want)
		if strings.Contains(f.Error(), token) {
			t.Errorf("the token is shown: %v", f)
		}
	}
	if _, err := os.Stat(filepath.Join(b.home, "ran")); err == nil {
		t.Error("a program ran as a transport")
	}
	for range 2 { // a second time there is nothing to push, which is well
		if _, err := b.Push(patience(t), place, Push{Branch: "main", Credential: credential}); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.raw(t, root, "rev-parse", "refs/remotes/origin/main"); got != b.raw(t, root, "rev-parse", "main") {
		t.Errorf("the tracking branch is at %s", got)
	}
	b.raw(t, root, "commit", "-q", "--amend", "-m", "another first")
	_, err = b.Push(patience(t), place, Push{Branch: "main", Credential: credential})
	failuretest.Produced(t, err, failure.PushRejected)
	put(t, "#!/bin/sh\necho not on fridays >&2\nexit 1\n", path, "hooks", "update")
	if err := os.Chmod(filepath.Join(path, "hooks", "update"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.raw(t, root, "branch", "other")
	_, err = b.Push(patience(t), place, Push{Branch: "other", Credential: credential})
	if f := failuretest.Produced(t, err, failure.PushRejected); !strings.Contains(f.Cause, "not on fridays") {
		t.Errorf("the other side's reason is lost: %v", f)
	}
}

// Needs git and its http-backend.
func TestTheCredentialGoesToItsHostAlone(t *testing.T) {
	b := newBed(t)
	good, evil := b.newHost(t, "good"), b.newHost(t, "evil")
	root, place := b.project(t)
	_, address := good.Bare(t, "shop.git")
	_, elsewhere := evil.Bare(t, "shop.git")
	plain := httptest.NewServer(evil.Config.Handler)
	t.Cleanup(plain.Close)
	push := Push{Branch: "main", Credential: Credential{username, token, good.Name}}
	b.Git.Protocols = []string{"https", "http"}
	for name, set := range map[string]func(){
		"another address":     func() { b.raw(t, root, "config", "remote.origin.url", elsewhere) },
		"an address for push": func() { b.raw(t, root, "config", "remote.origin.pushurl", elsewhere) },
		"a second address": func() {
			b.raw(t, root, "config", "--add", "remote.origin.url", elsewhere)
		},
		"the person's own rewriting": func() {
			b.raw(t, root, "config", "--global", "url."+evil.URL+"/.insteadOf", good.URL+"/")
		},
		"no encryption": func() { b.raw(t, root, "config", "remote.origin.url", plain.URL+"/shop.git") },
		"another host before an @": func() {
			b.raw(t, root, "config", "remote.origin.url", "https://"+strings.ReplaceAll(good.Name, ":", "%3a")+"@"+evil.Name+"/shop.git")
		},
	} {
		_ = os.Remove(filepath.Join(root, ".git", "config"))
		b.raw(t, root, "init", "-q")
		b.raw(t, root, "remote", "add", "origin", address)
		set()
		_, err := b.Push(patience(t), place, push)
		failuretest.Produced(t, err, failure.GitAuthFailed)
		if heard := evil.Heard(); strings.Contains(strings.Join(heard, " "), token) {
			t.Errorf("%s: another host heard %q", name, heard)
		}
		if name == "the person's own rewriting" {
			b.raw(t, b.home, "config", "--global", "--unset-all", "url."+evil.URL+"/.insteadOf")
		}
	}
}

// Needs git, its http-backend and /proc: watches the arguments of every process while it pushes and clones, and looks
// for the token wherever git could have left it.
func TestTheTokenIsInNoArgumentFileOrWord(t *testing.T) {
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("there is no /proc here")
	}
	b := newBed(t)
	h := b.newHost(t, "host")
	root, place := b.project(t)
	_, address := h.Bare(t, "shop.git")
	b.raw(t, root, "remote", "add", "origin", address)
	stop := watchArguments(t, token)
	if _, err := b.Push(patience(t), place, Push{Branch: "main", SetUpstream: true, Credential: Credential{username, token, h.Name}}); err != nil {
		t.Fatal(err)
	}
	clone := b.folder(t, "clone")
	var words []string
	if err := b.Clone(patience(t), clone, Clone{URL: address, Credential: Credential{Username: username, Token: token},
		Progress: func(stage string, _, _ int64) { words = append(words, stage) }}); err != nil {
		t.Fatal(err)
	}
	if looks := stop(); looks == 0 {
		t.Error("no process was seen")
	}
	if strings.Contains(strings.Join(words, " "), token) || len(words) == 0 {
		t.Errorf("progress %q", words)
	}
	for _, dir := range []string{root, clone, b.Scratch} {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			if err == nil && strings.Contains(string(data), token) {
				t.Errorf("%s holds the token", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if !slices.Contains(h.Heard(), username+":"+token) {
		t.Error("the host itself heard nothing")
	}
}

// watchArguments reads the arguments of all processes, again and again, until it is stopped; it tells how many it read.
func watchArguments(t *testing.T, secret string) (stop func() int) {
	t.Helper()
	done, looks := make(chan struct{}), make(chan int)
	go func() {
		seen := 0
		for {
			select {
			case <-done:
				looks <- seen
				return
			default:
			}
			files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, file := range files {
				if line, err := os.ReadFile(file); err == nil {
					seen++
					if strings.Contains(string(line), secret) {
						t.Errorf("an argument holds the token: %q", line)
					}
				}
			}
		}
	}()
	return func() int { close(done); return <-looks }
}

func TestAnswerIsForOneHostOverHTTPS(t *testing.T) {
	env := func(user, token, host string) []string {
		return []string{"X=y", UsernameVariable + "=" + user, TokenVariable + "=" + token, HostVariable + "=" + host}
	}
	const answer = "username=u\npassword=t\n"
	for _, tt := range []struct {
		operation, question string
		env                 []string
		want                string
	}{
		{"get", "protocol=https\nhost=h\n\n", env("u", "t", "h"), answer},
		{"get", "protocol=https\nhost=H:443\npath=x\n", env("u", "t", "h"), answer},
		{"get", "protocol=https\nhost=h:8443\n", env("u", "t", "h:8443"), answer},
		{"get", "protocol=https\nhost=h\nusername=bot\n", env("", "t", "h"), "username=bot\npassword=t\n"},
		{"get", "protocol=https\nhost=h\n", env("", "t", "h"), "username=x-access-token\npassword=t\n"},
		{"get", "protocol=http\nhost=h\n", env("u", "t", "h"), ""},
		{"get", "protocol=https\nhost=h:8443\n", env("u", "t", "h"), ""},
		{"get", "protocol=https\nhost=evil.h\n", env("u", "t", "h"), ""},
		{"get", "protocol=https\nhost=evil\n\nhost=h\n", env("u", "t", "h"), ""},
		{"get", "protocol=https\nhost=\n", env("u", "t", ""), ""},
		{"get", "protocol=https\nhost=h\n", env("u", "", "h"), ""},
		{"get", "protocol=https\nhost=h\n", env("u", "t\nquit=1", "h"), ""},
		{"get", "protocol=https\nhost=h\n", nil, ""},
		{"store", "protocol=https\nhost=h\n", env("u", "t", "h"), ""},
		{"erase", "protocol=https\nhost=h\n", env("u", "t", "h"), ""},
	} {
		var out strings.Builder
		if err := Answer(tt.operation, strings.NewReader(tt.question), &out, tt.env); err != nil || out.String() != tt.want {
			t.Errorf("%s %q: %q, %v", tt.operation, tt.question, out.String(), err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add("protocol=https\nhost=good.example\n\n")
	f.Add("protocol=https\nhost=good.example\nhost=evil\n")
	f.Add("protocol=https\r\nhost=good.example:443")
	f.Fuzz(func(t *testing.T, question string) {
		var out strings.Builder
		_ = Answer("get", strings.NewReader(question), &out, []string{TokenVariable + "=t", HostVariable + "=good.example"})
		if out.Len() > 0 && (!strings.Contains(question, "protocol=https") || !strings.Contains(strings.ToLower(question), "host=good.example")) {
			t.Fatalf("answered %q", question)
		}
	})
}
