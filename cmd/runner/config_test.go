package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"brabo.dev/runner/runner/settings"
)

// setRow is one setting as a person writes it: a value that is taken, how it reads afterwards where that differs, and
// what is refused: at least another kind of value, and one beyond the range where there is one.
type setRow struct {
	name, good, reads string
	bad               []string
}

// setRows has a row for every setting.
var setRows = []setRow{
	{"api_url", "https://brabo.example", "", []string{"brabo.example", "ftp://brabo.example"}},
	{"base", "/srv/projects", "", []string{"projects"}},
	{"roots", `["/srv"]`, "", []string{"/srv", `["srv"]`}},
	{"allow_home_root", "true", "", []string{"yes please"}},
	{"pairing.keychain", "true", "", []string{"2"}},
	{"proxy", "http://proxy.example:8080", "", []string{"gopher://proxy.example", "proxy.example"}},
	{"ca_file", "/etc/ours.pem", "", []string{"ours.pem"}},
	{"connect.backoff_max", "30s", "", []string{"30", "4s", "11m"}},
	{"connect.stable_after", "2m", "", []string{"soon", "4s", "11m"}},
	{"connect.heartbeat", "20s", "", []string{"often", "4s", "51s"}},
	{"connect.attempts", "60", "", []string{"many", "0", "301"}},
	{"connect.read_limit", "1MiB", "", []string{"1MB", "63KiB", "65MiB"}},
	{"commands.shell", "/bin/sh -e", `["/bin/sh","-e"]`, []string{`/bin/sh "`, `[""]`, `[null]`, `["/bin/sh", 1]`}},
	{"commands.deadline", "30s", "", []string{"half a minute", "999ms", "25h"}},
	{"commands.git_deadline", "2m", "", []string{"-1s", "999ms", "25h"}},
	{"commands.grace", "3s", "", []string{"3", "99ms", "61s"}},
	{"commands.parallel", "4", "", []string{"four", "0", "257"}},
	{"commands.queue", "50", "", []string{"1.5", "0", "100001"}},
	{"commands.umask", "027", "", []string{"888", "01000"}},
	{"commands.environment", `{"CI":"1"}`, `{"CI":"(hidden)"}`, []string{"CI=1", `{"CI":1}`, `{"A=B":"1"}`}},
	{"commands.bare_repositories", "true", "", []string{"maybe"}},
	{"commands.limits", `{"cpu":2}`, `{"cpu":2,"file_size":"0","memory":"0","open_files":0,"pids":0}`, []string{"2", `{"cpus":2}`, `{"cpu":-1}`}},
	{"output.result", "64KiB", "", []string{"lots", "1023", "2MiB"}},
	{"output.spool", "1MiB", "", []string{"-1", "2GiB"}},
	{"output.spool_total", "2GiB", "", []string{"-1", "2TiB"}},
	{"container.engine", "unix:///run/engine.sock", "", []string{"engine.sock"}},
	{"container.user", "1000:1000", "", []string{"ana", "1000"}},
	{"container.drift", "refuse", "", []string{"ignore"}},
	{"container.pull", "2m", "", []string{"long", "999ms", "25h"}},
	{"terminals.enabled", "false", "", []string{"never"}},
	{"terminals.max", "3", "", []string{"few", "0", "257"}},
	{"browse.max_entries", "200", "", []string{"all", "99", "100001"}},
	{"workspace.clone_deadline", "2m", "", []string{"2", "9s", "25h"}},
	{"drain.grace", "20s", "", []string{"20", "-1s", "2h"}},
	{"journal.keep", "7d", "", []string{"a week", "59m", "3651d"}},
	{"journal.size", "50MiB", "", []string{"small", "1023KiB", "101GiB"}},
	{"journal.reserve", "1MiB", "", []string{"-1", "2GiB"}},
	{"log.level", "debug", "", []string{"loud"}},
	{"log.total", "10MiB", "", []string{"ten", "1023KiB", "101GiB"}},
	{"confirm.deadline", "1m", "", []string{"1", "9s", "25h"}},
	{"git.hooks", "run", "", []string{"both"}},
	{"git.protocols", "https", "", []string{"HTTPS!"}},
	{"hub.listen", "127.0.0.1:4700", "", []string{"4700", "localhost"}},
	{"hub.tls_cert", "/etc/hub.pem", "", []string{"hub.pem"}},
	{"hub.tls_key", "/etc/hub.key", "", []string{"hub.key"}},
	{"hub.hosts", `["hub.example"]`, "", []string{"hub.example", `["http://hub.example"]`}},
	{"hub.rate", "10", "", []string{"fast", "0", "100001"}},
	{"hub.body", "1MiB", "", []string{"big", "63KiB", "65MiB"}},
	{"hub.workspaces_root", "/srv/workspaces", "", []string{"workspaces"}},
	{"hub.projects_base", "/srv", "", []string{"srv"}},
	{"hub.action_deadline", "1m", "", []string{"1", "999ms", "25h"}},
	{"hub.outcome_deadline", "2h", "", []string{"2", "59s", "31d"}},
	{"hub.events_keep", "90d", "", []string{"always", "-1h"}},
}

// TestConfigSetOfEverySetting types a good and the bad values of every setting.
func TestConfigSetOfEverySetting(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the folders of the rows are those of Unix")
	}
	home := inHome(t)
	file := filepath.Join(home, ".config", "runner", "config.json")
	_, out, _ := runs(t, "config", "show", "--json")
	var all []struct{ Name, Value, Origin string }
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Origin != "default" {
			t.Errorf("%s comes from %s", s.Name, s.Origin)
		}
		if !slices.ContainsFunc(setRows, func(r setRow) bool { return r.name == s.Name }) {
			t.Errorf("no row has %s", s.Name)
		}
	}
	for _, r := range setRows {
		if strings.HasPrefix(r.name, "hub.tls_") {
			continue // which come together, as TestConfigSetSaysWhatIsNotWholeYet has them
		}
		t.Run(r.name, func(t *testing.T) {
			if code, _, errOut := runs(t, "config", "set", r.name, r.good); code != exitOK {
				t.Fatalf("exit %d: %s", code, errOut)
			}
			reads := r.reads
			if reads == "" {
				reads = r.good
			}
			if code, out, errOut := runs(t, "config", "get", r.name); code != exitOK || strings.TrimSpace(out) != reads {
				t.Errorf("exit %d: it reads %q %s", code, out, errOut)
			}
			if !strings.Contains(reads, "(hidden)") { // what is shown can be typed again
				if code, _, errOut := runs(t, "config", "set", r.name, reads); code != exitOK {
					t.Errorf("%q: exit %d: %s", reads, code, errOut)
				}
				if _, out, _ := runs(t, "config", "get", r.name); strings.TrimSpace(out) != reads {
					t.Errorf("typed again it reads %q", out)
				}
			}
			kept, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, bad := range r.bad {
				if code, out, errOut := runs(t, "config", "set", "--", r.name, bad); code != exitUsage || out != "" || !strings.Contains(errOut, r.name) {
					t.Errorf("%q: exit %d: %s%s", bad, code, out, errOut)
				}
				if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, kept) {
					t.Fatalf("%q changed the file: %s %v", bad, now, err)
				}
			}
			if code, _, errOut := runs(t, "config", "set", "--default", r.name); code != exitOK {
				t.Errorf("exit %d: %s", code, errOut)
			}
			if values, err := settings.Load(sourcesHere(t)); err != nil || values.Origin(r.name).Kind != settings.FromDefault {
				t.Errorf("it is not back to its default: %v", err)
			}
		})
	}
}

// TestConfigSetSaysWhatIsNotWholeYet writes two settings that are worth nothing alone, one after the other.
func TestConfigSetSaysWhatIsNotWholeYet(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of Unix")
	}
	inHome(t)
	code, out, errOut := runs(t, "config", "set", "hub.tls_cert", "/etc/hub.pem")
	if code != exitOK || out != "" || !strings.Contains(errOut, "nothing starts with these settings yet: setting_invalid") || !strings.Contains(errOut, "hub.tls_key") {
		t.Errorf("exit %d: %s%s", code, out, errOut)
	}
	code, _, errOut = runs(t, "config", "set", "hub.tls_key", "hub.key")
	if code != exitUsage || !strings.Contains(errOut, "hub.tls_key") {
		t.Errorf("exit %d: %s", code, errOut)
	}
	if code, _, errOut = runs(t, "config", "set", "hub.tls_key", "/etc/hub.key"); code != exitOK || errOut != "" {
		t.Errorf("exit %d: %s", code, errOut)
	}
	for name, want := range map[string]string{"hub.tls_cert": "/etc/hub.pem\n", "hub.tls_key": "/etc/hub.key\n"} {
		if code, out, errOut := runs(t, "config", "get", name); code != exitOK || out != want {
			t.Errorf("exit %d: %s%s", code, out, errOut)
		}
	}
}

func sourcesHere(t *testing.T) settings.Sources {
	t.Helper()
	src, err := processSources()
	if err != nil {
		t.Fatal(err)
	}
	return src
}
