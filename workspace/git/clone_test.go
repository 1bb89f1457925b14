package git

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// Needs git and its http-backend.
func TestCloneBringsTheRepositoryAndTellsHowFarItIs(t *testing.T) {
	b := newBed(t)
	h := b.newHost(t, "host")
	root, _ := b.project(t)
	path, address := h.Bare(t, "shop.git")
	b.raw(t, root, "push", "-q", path, "main")
	dir := b.folder(t, "clone")
	var stages []string
	err := b.Clone(patience(t), dir, Clone{URL: address, Credential: Credential{Username: username, Token: token},
		Progress: func(stage string, current, total int64) {
			if current > total {
				t.Errorf("%s: %d of %d", stage, current, total)
			}
			stages = append(stages, stage)
		}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(stages, "receiving objects") {
		t.Errorf("stages %q", stages)
	}
	if got := b.raw(t, dir, "log", "--format=%s"); got != "first" {
		t.Errorf("cloned %q", got)
	}
	if got := b.raw(t, dir, "config", "remote.origin.url"); got != address {
		t.Errorf("its remote is %q", got)
	}
	for _, c := range []struct {
		url, token string
		want       failure.Name
	}{
		{address, "wrong", failure.GitAuthFailed}, {address, "", failure.GitAuthFailed}, {h.URL + "/gone.git", token, failure.RemoteNotFound},
	} {
		err := b.Clone(patience(t), b.folder(t, "other"), Clone{URL: c.url, Credential: Credential{Username: username, Token: c.token}})
		if f := failuretest.Produced(t, err, c.want); c.token != "" && strings.Contains(f.Error(), c.token) && c.token != "wrong" {
			t.Errorf("the token is shown: %v", f)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	err = b.Clone(ended, b.folder(t, "third"), Clone{URL: address, Credential: Credential{Username: username, Token: token},
		Progress: func(string, int64, int64) { cancel() }})
	if err != nil { // it may have been done already
		failuretest.Produced(t, err, failure.Cancelled)
	}
}

// Needs git.
func TestCloneTakesHTTPSAndSSHAlone(t *testing.T) {
	b := newBed(t)
	root, _ := b.project(t)
	for url, want := range map[string]failure.Name{
		"":                                failure.CloneURLRefused,
		"--upload-pack=touch":             failure.CloneURLRefused,
		root:                              failure.CloneURLRefused,
		"shop":                            failure.CloneURLRefused,
		"https://":                        failure.CloneURLRefused,
		"https://ana:s3cret@host/x":       failure.CloneURLRefused,
		"https://ana:s3cret/1@host/x":     failure.CloneURLRefused,
		"https://s3cret-of-20-letters@h/": failure.CloneURLRefused,
		"https://:s3cret@host/x":          failure.CloneURLRefused,
		"ssh://git:s3cret@host/x":         failure.CloneURLRefused,
		"https://ana:1/s3cret@host/":      failure.CloneURLRefused, // the host is ana, by its form
		"https://ana/s3cret@host/x":       failure.CloneURLRefused,
		"ssh://ana:1/s3cret@host/x":       failure.CloneURLRefused,
		"https://ana:s3cret/x":            failure.CloneURLRefused,
		"https://ana%3As3cret%40host/x":   failure.CloneURLRefused,
		"https://host/x?token=s3cret":     failure.CloneURLRefused,
		"https://host/x?token=s3cret@y":   failure.CloneURLRefused,
		"https://host/x#s3cret":           failure.CloneURLRefused,
		"https://ana:s3cret?@host/x":      failure.CloneURLRefused,
		"p@ss:s3cret@host:x":              failure.CloneURLRefused,
		"https://@s3cret@host":            failure.CloneURLRefused, // a user, or a host, with an @ in it
		"ssh://git@s3cret@host":           failure.CloneURLRefused,
		"ana:s3cret":                      failure.GitProtocolRefused,
		"ana:s3cret@host/x":               failure.GitProtocolRefused,
		"git:s3cret@host:x":               failure.GitProtocolRefused,
		"https://host/x y":                failure.CloneURLRefused,
		"https://host/x\n":                failure.CloneURLRefused,
		"ext::sh -c id":                   failure.CloneURLRefused,
		"https::https://host/x":           failure.CloneURLRefused,
		"ssh://-oProxyCommand=id/x":       failure.CloneURLRefused,
		"ana@-oProxyCommand=id:x":         failure.CloneURLRefused,
		"file://" + root:                  failure.GitProtocolRefused,
		"http://127.0.0.1:1/x":            failure.GitProtocolRefused,
		"git://127.0.0.1:1/x":             failure.GitProtocolRefused,
		"HTTP://127.0.0.1:1/x":            failure.GitProtocolRefused,
		"https://ana@127.0.0.1:1/x":       failure.RemoteUnreachable,
		"https://nobody.invalid/shop.git": failure.RemoteUnreachable,
	} {
		dir := b.folder(t, "clone")
		err := b.Clone(patience(t), dir, Clone{URL: url})
		f := failuretest.Produced(t, err, want)
		if strings.Contains(f.Error(), "s3cret") {
			t.Errorf("the password is shown: %v", f)
		}
		if entries, _ := os.ReadDir(dir); len(entries) > 0 && want != failure.RemoteUnreachable {
			t.Errorf("%s left %v", url, entries)
		}
	}
	for _, url := range []string{"ana@host:shop.git", "git@host:group/shop.git", "ssh://git@host:22/shop", "https://host:8443/shop",
		"https://org@host/org/_git/shop", "https://host/%40scope/shop", "ssh://git@host/~ana/shop"} {
		if _, err := b.admit(url); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	local := b.Git
	local.Protocols = []string{"file"}
	if err := local.Clone(patience(t), b.folder(t, "local"), Clone{URL: "file://" + root}); err != nil {
		t.Error(err)
	}
	if _, err := local.admit("git@host:x"); !failure.Is(err, failure.GitProtocolRefused) {
		t.Error(err)
	}
}

// Needs git.
func TestInitMakesARepository(t *testing.T) {
	b := newBed(t)
	dir := b.folder(t, "new")
	if err := b.Init(patience(t), dir); err != nil {
		t.Fatal(err)
	}
	if got := b.raw(t, dir, "rev-parse", "--git-dir"); got != ".git" {
		t.Error(got)
	}
	err := b.Init(patience(t), filepath.Join(dir, "missing"))
	failuretest.Produced(t, err, failure.GitFailed)
}

func TestWordsOfGitAreShownPlain(t *testing.T) {
	o := Output{Code: 128, Stderr: []byte("Receiving objects: 3%\rhint: x\nremote: a\x1b[31m\u202e\nfatal: no\n")}
	if got := o.words(); got != `remote: a\u001b[31m\u202e; fatal: no` {
		t.Errorf("%q", got)
	}
	if got := (Output{Code: 1}).words(); !strings.Contains(got, "exit code 1") {
		t.Error(got)
	}
	if got := (Output{Stderr: []byte(strings.Repeat("ü", 2000))}).words(); len(got) > wordsMost+3 || strings.Contains(got, "\ufffd") {
		t.Errorf("%d bytes", len(got))
	}
	f := Output{Code: 1, Stderr: []byte("error: No space left on device")}.failure([]string{"-c", "x", "add"}, "/w")
	failuretest.Produced(t, f, failure.DiskFull)
}

// FuzzAddress takes any text for an address, and for a secret at each place of one where people put theirs.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"https://host/x", "git@host:x", "ssh://u:p@h/x", "https://u:p@h", "-x", "a::b", "https://u:p@h@i/x", "://", "x@y:z",
		"https://x:1/tok@host/", "1/tok", "p@ss", "a?b", "a#b@c", "//", "://x@y", "%2f%40", "[::1]", "\\", "https://h/%40s/x", "0@0:#", "https://@0@0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := (Git{}).admit(text); err != nil {
			if failure.As(err) == nil {
				t.Fatalf("a refusal without a name: %v", err)
			}
		} else if u, err := url.Parse(text); strings.HasPrefix(text, "-") || strings.ContainsAny(text, "\n\x00 ") || strings.Count(text, "@") > 1 ||
			!isSCP(text) && (err != nil || strings.ContainsAny(text, "?#") || strings.Contains(u.Path+u.RawPath, "@") && !strings.Contains(text, "%40")) {
			t.Fatalf("accepted %q", text)
		}
		for address, hidden := range map[string][]string{
			"https://ana:" + text + "@host/x":   {"https://…@host/x", "https://…"},
			"https://" + text + "@host/x":       {"https://…@host/x", "https://…"},
			"https://ana:1/" + text + "@host/x": {"https://…@host/x", "https://…"},
			"ssh://git:" + text + "@host/x":     {"ssh://…@host/x", "ssh://…"},
			"ana:" + text + "@host:x":           {"…@host:x", "ana://…@host:x", "…", "ana://…"},
			"https://host/x?token=" + text:      {"https://host/x…", "https://…"},
		} {
			if shown := Shown(address); !slices.Contains(hidden, shown) {
				t.Fatalf("shows %q as %q", address, shown)
			}
			if _, err := (Git{}).admit(address); err == nil && strings.Contains(address, ":"+text) && text != "" {
				t.Fatalf("accepted %q", address)
			}
		}
	})
}
