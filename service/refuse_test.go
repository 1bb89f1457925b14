//go:build unix

package service

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// home is a user's home with a folder of ours, on Linux, for an ordinary user.
func home(t *testing.T) (Host, Request) {
	t.Helper()
	dir := t.TempDir()
	h := Host{System: "linux", Home: dir, ConfigHome: filepath.Join(dir, ".config"), UID: 1000}
	folder := filepath.Join(dir, "shop")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	d := cases()["project"]
	d.Program, d.Folder = "/usr/bin/runner", folder
	return h, Request{Definition: d, APIURL: "https://brabo.example"}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestNothingStandsAgainstAnOrdinaryInstallation(t *testing.T) {
	h, r := home(t)
	for _, f := range h.Refusals(r) {
		t.Error(f)
	}
}

func TestInstallationIsRefused(t *testing.T) {
	other := func(t *testing.T, h Host, d Definition) {
		text, err := h.Unit(d)
		if err != nil {
			t.Fatal(err)
		}
		put(t, h.Path(d.ID), text)
	}
	for _, c := range []struct {
		name   string
		change func(t *testing.T, h *Host, r *Request)
		want   failure.Name
	}{
		{"root's own service", func(_ *testing.T, h *Host, _ *Request) { h.UID = 0 }, failure.ServiceRoot},
		{"Windows, for a user", func(_ *testing.T, h *Host, _ *Request) { h.System = "windows" }, failure.ServiceAccount},
		{"system without an account", func(_ *testing.T, h *Host, r *Request) { h.UID, r.System = 0, true }, failure.ServiceAccount},
		{"system as root", func(_ *testing.T, h *Host, r *Request) { h.UID, r.System, r.User = 0, true, "root" }, failure.ServiceAccount},
		{"system as nobody known", func(_ *testing.T, h *Host, r *Request) { h.UID, r.System, r.User = 0, true, "no-such-user" }, failure.ServiceAccount},
		{"system by an ordinary user", func(_ *testing.T, _ *Host, r *Request) { r.System, r.User = true, "root" }, failure.ServiceAccount},
		{"a project named as the hub", func(_ *testing.T, _ *Host, r *Request) { r.Project = "hub" }, failure.Usage},
		{"a project with a path for an id", func(_ *testing.T, _ *Host, r *Request) { r.Project = "../x" }, failure.Usage},
		{"the other kind is there", func(t *testing.T, h *Host, _ *Request) { other(t, *h, cases()["machine"]) }, failure.ServiceOtherKind},
		{"the existing client serves the project", func(t *testing.T, h *Host, _ *Request) {
			put(t, filepath.Join(h.folder(false), "brabo-runner-7c1e.service"), "[Service]\nExecStart=\"/opt/brabo runner\" --project 7c1e --dir /x --api-url https://brabo.example/\n")
		}, failure.ServiceExistingClient},
		{"the existing client serves all", func(t *testing.T, h *Host, _ *Request) {
			put(t, filepath.Join(h.folder(false), "brabo-runner.service"), "what is this\n")
		}, failure.ServiceExistingClient},
		{"the existing client on a Mac", func(t *testing.T, h *Host, _ *Request) {
			h.System = "darwin"
			put(t, filepath.Join(h.folder(false), "dev.brabo.runner.7c1e.plist"), "<plist></plist>")
		}, failure.ServiceExistingClient},
		{"no credential", func(_ *testing.T, _ *Host, r *Request) {
			r.Credential = failure.New(failure.CredentialMissing, r.Folder)
		}, failure.CredentialMissing},
		{"a quote in the path", func(t *testing.T, h *Host, r *Request) {
			r.Folder = filepath.Join(h.Home, `a"b`)
			put(t, filepath.Join(r.Folder, "x"), "")
		}, failure.ServicePath},
		{"a line break in the path", func(t *testing.T, h *Host, r *Request) {
			r.Folder = filepath.Join(h.Home, "a\nExecStartPre=rm")
			put(t, filepath.Join(r.Folder, "x"), "")
		}, failure.ServicePath},
		{"white space in the address", func(_ *testing.T, _ *Host, r *Request) { r.APIURL = "https://a b" }, failure.ServicePath},
		{"a folder outside home", func(t *testing.T, _ *Host, r *Request) { r.Folder = t.TempDir() }, failure.ServiceFolder},
		{"no folder", func(_ *testing.T, h *Host, r *Request) { r.Folder = filepath.Join(h.Home, "gone") }, failure.ServiceFolder},
		{"the machine's in a project's folder", func(_ *testing.T, _ *Host, r *Request) {
			r.ID, r.ProjectFile = ID{Kind: Machine}, "/home/ana/shop/brabo-runner.config.json"
		}, failure.ServiceProjectFile},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, r := home(t)
			c.change(t, &h, &r)
			all := h.Refusals(r)
			if len(all) != 1 {
				t.Fatalf("%d refusals, want one: %v", len(all), all)
			}
			failuretest.Produced(t, all[0], c.want)
		})
	}
}

func TestExistingClientAtAnotherServerIsNoRival(t *testing.T) {
	h, r := home(t)
	put(t, filepath.Join(h.folder(false), "brabo-runner.service"), "[Service]\nExecStart=/opt/brabo --api-url=https://other.example\n")
	put(t, filepath.Join(h.folder(false), "brabo-runner-9.service"), "[Service]\nExecStart=/opt/brabo --project 9 --api-url https://brabo.example\n")
	if all := h.Refusals(r); len(all) != 0 {
		t.Error(all)
	}
	if found := h.Existing(); len(found) != 2 || found[0].Project != "9" || found[1].APIURL != "https://other.example" {
		t.Errorf("%+v", found)
	}
}

func TestSystemServiceOfAPersonIsFine(t *testing.T) {
	me, err := user.Current()
	if err != nil || me.Uid == "0" {
		t.Skip("root is the account that is refused")
	}
	h, r := home(t)
	h.UID, r.System, r.User = 0, true, me.Username
	if all := h.Refusals(r); len(all) != 0 {
		t.Error(all)
	}
}

func TestSecretsAreNotFrozenIntoAUnit(t *testing.T) {
	c := CaptureEnvironment([]string{
		"PATH=/bin", "HTTPS_PROXY=http://ana:pw@proxy:3128", "NO_PROXY=localhost", "BRABO_ACCOUNT_TOKEN=brb_x", "GH_TOKEN=x",
		"MY_API_KEY=x", "KEYBOARD=us", "LINES=a\nb", "LANG=", "OTHER=1",
	}, []string{"BRABO_ACCOUNT_TOKEN", "GH_TOKEN", "MY_API_KEY", "KEYBOARD", "LINES", "UNSET", "no name"})
	if want := "KEYBOARD NO_PROXY PATH"; len(c.Values) != 3 || c.Values["KEYBOARD"] != "us" || c.Values["NO_PROXY"] == "" || c.Values["PATH"] != "/bin" {
		t.Errorf("%v, want %s", c.Values, want)
	}
	var left []string
	for _, f := range c.Left {
		failuretest.Produced(t, f, failure.ServiceVariable)
		left = append(left, f.Subject)
	}
	if got, want := strings.Join(left, " "), "HTTPS_PROXY BRABO_ACCOUNT_TOKEN GH_TOKEN MY_API_KEY LINES UNSET no name"; got != want {
		t.Errorf("left out %s, want %s", got, want)
	}
}
