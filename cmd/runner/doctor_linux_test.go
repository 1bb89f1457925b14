package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elastic/go-seccomp-bpf"

	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/journal"
)

// patient is a person's home with a good pairing, which a row of the table spoils before runner doctor looks.
type patient struct {
	home, state string
	server, jwk string // the hub's address, and the key that it lets in
	args        []string
	env         map[string]string // added to that of the command
	blind       bool              // a kernel without Landlock
}

func (p *patient) write(t *testing.T, path, text string) {
	t.Helper()
	path = filepath.Join(p.home, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// examine runs runner doctor as a process of its own and gives what each check found.
func (p *patient) examine(t *testing.T) (found map[string]control.Finding, code int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"doctor", "--json"}, p.args...)...)
	env := map[string]string{asCommand: "1", "HOME": p.home, "PATH": os.Getenv("PATH")}
	maps.Copy(env, p.env)
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	ran := make(chan error)
	go func() {
		if p.blind {
			runtime.LockOSThread() // and never unlocked: the thread ends with its filter
			if err := seccomp.LoadFilter(withoutLandlock()); err != nil {
				ran <- err
				return
			}
		}
		ran <- cmd.Run()
	}()
	if err := <-ran; cmd.ProcessState == nil {
		t.Fatal(err)
	}
	var reports report
	if err := json.Unmarshal(out.Bytes(), &reports); err != nil || len(reports) != 1 {
		t.Fatalf("%v: %s%s", err, &out, &errOut)
	}
	found = map[string]control.Finding{}
	for _, f := range reports[0].Findings {
		found[f.Check] = f
	}
	return found, cmd.ProcessState.ExitCode()
}

// withoutLandlock makes the kernel one that has no Landlock, for a thread and what it starts.
func withoutLandlock() seccomp.Filter {
	return seccomp.Filter{NoNewPrivs: true, Policy: seccomp.Policy{
		DefaultAction: seccomp.ActionAllow,
		Syscalls:      []seccomp.SyscallGroup{{Names: []string{"landlock_create_ruleset"}, Action: seccomp.ActionErrno}},
	}}
}

// served answers as a server does in one respect.
func served(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

// ailment is one way in which a check of runner doctor does not pass.
type ailment struct {
	check   string
	verdict control.Verdict
	name    failure.Name
	said    string // a part of the failure's text
	spoil   func(t *testing.T, p *patient)
}

// ailments has at least one row for each check that runner doctor makes.
func ailments() []ailment {
	return []ailment{
		{"settings", control.Fail, failure.SettingsInvalid, "config.json:1", func(t *testing.T, p *patient) {
			p.write(t, ".config/runner/config.json", `{"commands": {"paralel": 3}}`)
		}},
		{"settings", control.Fail, failure.Usage, "api_url", func(t *testing.T, _ *patient) { runs(t, "logout") }},
		{"settings", control.Fail, failure.PairingDamaged, "", func(t *testing.T, p *patient) {
			if err := os.RemoveAll(filepath.Join(p.home, ".config", "runner")); err != nil {
				t.Fatal(err)
			}
			p.write(t, ".config/runner/pairing.json", "{")
		}},
		{"server", control.Fail, failure.ServerUnreachable, "127.0.0.1:1", func(t *testing.T, p *patient) { pairWith(t, "http://127.0.0.1:1", p.jwk) }},
		{"server", control.Fail, failure.ServerUnreachable, "certificate", func(t *testing.T, p *patient) {
			s := httptest.NewUnstartedServer(http.NotFoundHandler())
			s.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of doctor's distrust
			s.StartTLS()
			t.Cleanup(s.Close)
			pairWith(t, s.URL, p.jwk)
		}},
		{"server", control.Fail, failure.ServerUnreachable, "the proxy does not answer", func(t *testing.T, p *patient) {
			pairWith(t, "http://brabo.invalid", p.jwk)
			p.env["RUNNER_PROXY"] = "http://127.0.0.1:1"
		}},
		{"clock", control.Fail, failure.ClockSkew, "fast", func(t *testing.T, p *patient) {
			pairWith(t, served(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
			}), p.jwk)
		}},
		{"credential", control.Fail, failure.CredentialUnknown, "", func(t *testing.T, p *patient) {
			pairWith(t, p.server, strings.Replace(p.jwk, "key-1", "key-2", 1))
		}},
		{"credential", control.Fail, failure.CredentialExpired, "", func(t *testing.T, p *patient) {
			pairWith(t, served(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusUnauthorized)
				_, _ = w.Write([]byte(`{"message":"x","failure":{"name":"credential_expired"}}`))
			}), p.jwk)
		}},
		{"pairing", control.Warn, failure.PairingModes, "pairing.json", func(t *testing.T, p *patient) {
			if err := os.Chmod(filepath.Join(p.home, ".config", "runner", "pairing.json"), 0o644); err != nil {
				t.Fatal(err)
			}
		}},
		{"pairing", control.Warn, failure.PairingRestored, "", func(t *testing.T, p *patient) { p.write(t, ".config/runner/pairing.json", "{") }},
		{"pairing", control.Warn, failure.KeychainUnused, "", func(_ *testing.T, p *patient) { p.env["RUNNER_PAIRING_KEYCHAIN"] = "true" }},
		{"server", control.Fail, failure.ProxyRefused, "name and a password", func(t *testing.T, p *patient) {
			pairWith(t, "http://brabo.invalid", p.jwk)
			p.env["RUNNER_PROXY"] = served(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusProxyAuthRequired) })
		}},
		{"engine", control.Warn, failure.EngineNotInstalled, "nowhere.sock", func(_ *testing.T, p *patient) {
			p.env["RUNNER_CONTAINER_ENGINE"] = "unix://" + p.home + "/nowhere.sock"
			p.env["PATH"] = p.home + "/bin" // without the programs of an engine
		}},
		{"folder", control.Fail, failure.RootSystemFolder, "/etc", func(_ *testing.T, p *patient) { p.env["RUNNER_BASE"] = "/etc" }},
		{"folder", control.Fail, failure.RootNotFolder, "", func(t *testing.T, p *patient) {
			p.write(t, "file", "")
			p.args = []string{"--project", "p", "--dir", "file"}
		}},
		{"shell", control.Fail, failure.ShellInvalid, "no-shell", func(_ *testing.T, p *patient) { p.env["RUNNER_COMMANDS_SHELL"] = "/no-shell" }},
		{"shell", control.Warn, failure.BashMissing, "/bin/sh", func(_ *testing.T, p *patient) { p.env["RUNNER_COMMANDS_SHELL"] = "/bin/sh" }},
		{"path", control.Warn, failure.PathPoor, "not absolute", func(_ *testing.T, p *patient) { p.env["PATH"] += ":bin" }},
		{"path", control.Warn, failure.PathPoor, "no git", func(_ *testing.T, p *patient) { p.env["PATH"] = p.home }},
		{"journal", control.Fail, failure.JournalCorrupt, "", func(t *testing.T, p *patient) {
			p.write(t, strings.TrimPrefix(journal.Path(p.state), p.home), strings.Repeat("this is no journal ", 1000))
		}},
		{"installs", control.Warn, failure.DuplicateInstall, "other", func(t *testing.T, p *patient) {
			p.write(t, "other/"+filepath.Base(os.Args[0]), "another version")
			p.env["PATH"] += ":" + p.home + "/other"
		}},
		{"installs", control.Fail, failure.DuplicateInstall, "brabo-runner.service", func(t *testing.T, p *patient) {
			p.write(t, ".config/systemd/user/brabo-runner.service", "[Service]\nExecStart=/opt/brabo-runner --api-url "+p.server+"\n")
		}},
		{"variables", control.Warn, failure.SettingInvalid, "RUNNER_BASE", func(_ *testing.T, p *patient) { p.env["RUNNER_BAS"] = "/x" }},
		{"policy", control.Fail, failure.MachinePolicyInvalid, "policy.json:1", func(t *testing.T, p *patient) { lockHome(t, p.home, `{"defualt": {}}`) }},
		{"confinement", control.Fail, failure.ConfinementUnavailable, "Landlock", func(t *testing.T, p *patient) {
			lockHome(t, p.home, `{"default":{"confine":{"mode":"on"}}}`)
			p.blind = true
		}},
		{"limits", control.Warn, failure.LimitsCounted, "counted", func(_ *testing.T, p *patient) { p.env["RUNNER_COMMANDS_LIMITS"] = `{"pids": 100}` }},
		{"daemon", control.Fail, failure.ControlFailed, "", func(t *testing.T, p *patient) {
			p.write(t, strings.TrimPrefix(p.state, p.home)+"/keep", "")
			t.Chdir(p.state) // the whole path may be too long for a socket
			l, err := net.Listen("unix", "control.sock")
			if err != nil {
				t.Fatal(err)
			}
			s := &http.Server{Handler: http.NotFoundHandler()}
			ended := make(chan struct{})
			go func() { _ = s.Serve(l); close(ended) }()
			t.Cleanup(func() { _ = s.Close(); <-ended })
		}},
		{"disk", control.Fail, failure.DiskFull, "MiB are free", func(t *testing.T, p *patient) {
			disk, _ := smallDisk(t, 1<<20)
			p.env["XDG_STATE_HOME"] = disk
		}},
	}
}

// patientOf is a home whose pairing with a real hub is good.
func patientOf(t *testing.T) *patient {
	home := inHome(t)
	_, url, _, jwk := startHub(t, home)
	pairWith(t, url, jwk)
	return &patient{home: home, state: stateOf(home), server: url, jwk: jwk, env: map[string]string{}}
}

// TestEachCheckOfDoctorIsSeenToFail spoils a machine in each way that a check is there for, and has runner doctor look.
func TestEachCheckOfDoctorIsSeenToFail(t *testing.T) {
	var rows []string
	for _, a := range ailments() {
		rows = append(rows, a.check)
		if a.check != "disk" { // which TestRootDoctorSeesAFullDisk fills
			t.Run(a.check+" "+string(a.name), func(t *testing.T) { seen(t, a) })
		}
	}
	healthy := patientOf(t)
	found, code := healthy.examine(t)
	if code != exitOK {
		t.Errorf("exit %d of a machine on which nothing is wrong: %+v", code, found)
	}
	for check, f := range found {
		if f.Verdict == control.Fail {
			t.Errorf("%+v", f)
		}
		if !slices.Contains(rows, check) {
			t.Errorf("nothing shows how the check %s ends when something is wrong", check)
		}
	}
}

// TestRootDoctorSeesAFullDisk mounts a disk that is too small.
func TestRootDoctorSeesAFullDisk(t *testing.T) {
	for _, a := range ailments() {
		if a.check == "disk" {
			seen(t, a)
		}
	}
}

// seen holds what the check of a finds, and doctor's exit code, against the row.
func seen(t *testing.T, a ailment) {
	p := patientOf(t)
	a.spoil(t, p)
	found, code := p.examine(t)
	f, made := found[a.check]
	if !made || f.Verdict != a.verdict || f.Failure == nil || f.Failure.Name != a.name || !strings.Contains(f.Failure.Error(), a.said) || f.Failure.Next == "" {
		t.Errorf("exit %d: %+v of %v", code, f, found)
	}
	if a.verdict == control.Fail && code != exitDegraded {
		t.Errorf("exit %d", code)
	}
}
