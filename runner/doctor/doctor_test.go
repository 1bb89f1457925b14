package doctor

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/containerctl"
	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/journal"
	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/runner/settings"
	"brabo.dev/runner/workspace"
)

// found is what the check called name finds.
func found(t *testing.T, checks []Check, name string) control.Finding {
	t.Helper()
	for _, c := range checks {
		if c.Name == name {
			return Run(t.Context(), []Check{c})[0]
		}
	}
	t.Fatalf("there is no check %s", name)
	return control.Finding{}
}

// wants asserts how a check ended.
func wants(t *testing.T, f control.Finding, verdict control.Verdict, name failure.Name) {
	t.Helper()
	if f.Verdict != verdict {
		t.Errorf("%+v", f)
	}
	if verdict == control.Pass {
		if f.Text == "" || f.Failure != nil {
			t.Errorf("%+v", f)
		}
		return
	}
	failuretest.Produced(t, f.Failure, name)
}

// api is a server that knows one token, and tells the time that now gives.
func api(t *testing.T, now func() time.Time) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", now().UTC().Format(http.TimeFormat))
		switch {
		case r.Method == http.MethodHead:
			w.WriteHeader(http.StatusUnauthorized)
		case r.Header.Get("Authorization") != "Bearer brb_good":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/projects/p/runner-ticket":
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(`{"ticket":"t","engineWsUrl":"ws://127.0.0.1/runner","expiresAt":"2026-11-02T10:15:30Z"}`))
		case r.URL.Path == "/runner/projects":
			_, _ = w.Write([]byte(`[{"projectId":"p","name":"P","workspaceDirName":"p"},{"name":"half"}]`))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func client(url, token string) pairing.Client {
	return pairing.Client{BaseURL: url, Credential: pairing.Token{Secret: settings.NewSecret(token)}}
}

func TestServerClockAndCredential(t *testing.T) {
	s := api(t, time.Now)
	good := Server{Client: client(s.URL, "brb_good"), Project: "p"}
	for _, name := range []string{"server", "clock", "credential"} {
		wants(t, found(t, good.Checks(), name), control.Pass, "")
	}
	wants(t, found(t, Server{Client: client(s.URL, "brb_bad"), Project: "p"}.Checks(), "credential"), control.Fail, failure.TicketRefused)
	wants(t, found(t, Server{Client: client(s.URL, "brb_good")}.Checks(), "credential"), control.Warn, failure.BadServerAnswer)

	late := api(t, func() time.Time { return time.Now().Add(-time.Hour) })
	f := found(t, Server{Client: client(late.URL, "brb_good")}.Checks(), "clock")
	wants(t, f, control.Fail, failure.ClockSkew)
	if !strings.Contains(f.Failure.Cause, " is 1h0m") || !strings.Contains(f.Failure.Cause, "s fast of") {
		t.Error(f.Failure)
	}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // nobody listens there now
	gone := Server{Client: client("http://"+l.Addr().String(), "brb_good")}
	for _, name := range []string{"server", "clock", "credential"} {
		wants(t, found(t, gone.Checks(), name), control.Fail, failure.ServerUnreachable)
	}
}

func TestCertificateAndProxyAreNamed(t *testing.T) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	f := found(t, Server{Client: client(s.URL, "brb_good")}.Checks(), "server")
	wants(t, f, control.Fail, failure.ServerUnreachable)
	if !strings.Contains(f.Failure.Cause, "certificate") {
		t.Error(f.Failure)
	}
	trusting := client(s.URL, "brb_good")
	trusting.HTTP = s.Client()
	f = found(t, Server{Client: trusting}.Checks(), "server")
	wants(t, f, control.Pass, "")
	if !strings.Contains(f.Text, "issued by") || !strings.Contains(f.Text, "no proxy") {
		t.Error(f.Text)
	}
	proxied, err := pairing.NewTransport("http://ana:hunter2@"+s.Listener.Addr().String(), "")
	if err != nil {
		t.Fatal(err)
	}
	// A name that nobody has: the proxy is asked for it, and here is none.
	f = found(t, Server{Client: pairing.Client{BaseURL: "http://brabo.invalid", Credential: pairing.Token{}, HTTP: &http.Client{Transport: proxied.HTTP}}, Proxy: proxied.Proxy}.Checks(), "server")
	if strings.Contains(f.Text, "hunter2") || f.Failure != nil && strings.Contains(f.Failure.Error(), "hunter2") {
		t.Errorf("the proxy's password is shown: %+v", f)
	}
}

func TestMachine(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	missing := func(ctx context.Context) (*containerctl.Engine, error) {
		return containerctl.Discover(ctx, containerctl.Discovery{Setting: "unix://" + filepath.Join(home, "none.sock"), Home: home})
	}
	m := Machine{Path: os.Getenv("PATH"), Discover: missing, Root: filepath.Join(home, "project"), Folder: workspace.Options{Home: home, Demo: true, Roots: []string{home}}}
	wants(t, found(t, m.Checks(), "engine"), control.Warn, failure.EngineNotInstalled)
	wants(t, found(t, m.Checks(), "folder"), control.Pass, "")
	if _, err := os.Stat(m.Root); err == nil {
		t.Error("the check made the folder")
	}
	if err := os.Mkdir(m.Root, 0o700); err != nil {
		t.Fatal(err)
	}
	wants(t, found(t, m.Checks(), "folder"), control.Pass, "")
	wants(t, found(t, m.Checks(), "shell"), control.Pass, "")

	m.Root = file
	wants(t, found(t, m.Checks(), "folder"), control.Fail, failure.RootNotFolder)
	m.Root, m.Folder.Demo = filepath.Join(filepath.Dir(home), "elsewhere"), false
	wants(t, found(t, m.Checks(), "folder"), control.Fail, failure.RootNotAllowed)
	m.Root = ""
	wants(t, found(t, m.Checks(), "folder"), control.Pass, "")
	m.Shell = []string{filepath.Join(home, "no-shell")}
	wants(t, found(t, m.Checks(), "shell"), control.Fail, failure.ShellInvalid)
	if runtime.GOOS != "windows" {
		m.Shell = []string{"/bin/sh"}
		wants(t, found(t, m.Checks(), "shell"), control.Warn, failure.BashMissing)
	}
	for _, path := range []string{"", "bin" + string(filepath.ListSeparator) + home, home} {
		m.Path = path
		wants(t, found(t, m.Checks(), "path"), control.Warn, failure.PathPoor)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.WriteFile(filepath.Join(home, "git"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	wants(t, found(t, m.Checks(), "path"), control.Pass, "")
}

func TestState(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "runner")
	if err := os.WriteFile(binary, []byte("one"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := State{Folder: filepath.Join(dir, "state", "runner"), Binary: binary, Path: dir}
	for _, name := range []string{"disk", "journal", "installs", "variables"} {
		wants(t, found(t, s.Checks(), name), control.Pass, "")
	}
	free, err := freeBytes(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Reserve = int64(free) + 1<<40
	wants(t, found(t, s.Checks(), "disk"), control.Fail, failure.DiskFull)

	other := filepath.Join(t.TempDir(), "runner")
	if err := os.WriteFile(other, []byte("another"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.Path = filepath.Dir(other)
	wants(t, found(t, s.Checks(), "installs"), control.Warn, failure.DuplicateInstall)
	s.Units = []string{"brabo-runner.service"}
	wants(t, found(t, s.Checks(), "installs"), control.Fail, failure.DuplicateInstall)
	s.Misspelt = []settings.Misspelt{{Variable: "RUNNER_BAS", Meant: "RUNNER_BASE"}}
	wants(t, found(t, s.Checks(), "variables"), control.Warn, failure.SettingInvalid)

	j, err := journal.Open(journal.Options{Folder: s.Folder, Keep: time.Hour, Size: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s.Journal = func() error { return failure.New(failure.JournalCorrupt, s.Folder) }
	wants(t, found(t, s.Checks(), "journal"), control.Fail, failure.JournalCorrupt)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	s.Journal = nil
	wants(t, found(t, s.Checks(), "journal"), control.Pass, "")
	damaged := []byte(strings.Repeat("this is no journal ", 1000))
	if err := os.WriteFile(journal.Path(s.Folder), damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	wants(t, found(t, s.Checks(), "journal"), control.Fail, failure.JournalCorrupt)
	if now, err := os.ReadFile(journal.Path(s.Folder)); err != nil || string(now) != string(damaged) {
		t.Error("the check changed the journal", err)
	}
}

func TestWorst(t *testing.T) {
	for want, verdicts := range map[control.Verdict][]control.Verdict{
		control.Pass: {control.Pass}, control.Warn: {control.Pass, control.Warn}, control.Fail: {control.Warn, control.Fail, control.Pass},
	} {
		var all []control.Finding
		for _, v := range verdicts {
			all = append(all, control.Finding{Verdict: v})
		}
		if got := Worst(all); got != want {
			t.Errorf("%v: %s", verdicts, got)
		}
	}
}
