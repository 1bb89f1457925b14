package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// someone is a user with a home, a working directory and these variables.
func someone(t testing.TB, variables ...string) Sources {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, work := filepath.Join(top, "home"), filepath.Join(top, "work")
	for _, dir := range []string{home, work} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"HOME=" + home, "USERPROFILE=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, "config")}
	return Sources{Environ: append(env, variables...), WorkDir: work}
}

// withFile gives src a settings file with this content.
func withFile(t testing.TB, src Sources, content string) Sources {
	t.Helper()
	src.ConfigFile = filepath.Join(src.WorkDir, "config.json")
	put(t, src.ConfigFile, content)
	return src
}

func put(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// shown is the value of the setting called name as `config show` prints it.
func shown(t testing.TB, s Settings, name string) Value {
	t.Helper()
	for _, v := range s.Values() {
		if v.Name == name {
			return v
		}
	}
	t.Fatalf("there is no setting %s", name)
	return Value{}
}

func TestTheTableIsTheDocumentation(t *testing.T) {
	data, err := os.ReadFile("testdata/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	var want [][3]string
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(strings.ReplaceAll(line, "`", ""), "|")
		if len(cells) != 6 {
			t.Fatalf("%d cells in %s", len(cells), line)
		}
		names, initial := strings.Split(strings.TrimSpace(cells[1]), ", "), strings.TrimSpace(cells[2])
		if names[0] == "setting" || strings.HasPrefix(names[0], "--") {
			continue
		}
		initials := []string{initial}
		if len(names) > 1 { // two settings in one row have their defaults in the same order
			initials = strings.Split(initial, ", ")
		}
		for i, name := range names {
			want = append(want, [3]string{name, initials[i], strings.TrimSpace(cells[3])})
		}
	}
	var got [][3]string
	for _, r := range Table() {
		if r.Name == "hub.tls_cert" || r.Name == "hub.tls_key" { // they stand in the row of hub.listen
			continue
		}
		got = append(got, [3]string{r.Name, r.Default, r.Range})
		if r.Meaning == "" || r.Variable != variableName(r.Name) {
			t.Errorf("%s lacks a meaning or has the variable %s", r.Name, r.Variable)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the table differs from the documentation (-documented +ours):\n%s", diff)
	}
}

func TestDefaultsHoldWhereNothingIsSet(t *testing.T) {
	src := someone(t)
	s, err := Load(src)
	if err != nil {
		t.Fatal(err)
	}
	home := src.Folders().Home
	for name, want := range map[string]string{
		"api_url": "", "roots": showJSON([]string{home}), "connect.backoff_max": "1m", "connect.heartbeat": "30s",
		"connect.attempts": "120", "connect.read_limit": "8MiB", "commands.deadline": "14s", "commands.git_deadline": "55s", "commands.queue": "1000",
		"commands.umask": "", "output.result": "32KiB", "output.spool_total": "1GiB", "container.drift": "report",
		"container.pull": "0s", "terminals.enabled": "true", "journal.keep": "30d", "log.level": "info",
		"git.protocols": "https ssh", "hub.listen": "127.0.0.1:4680", "hub.events_keep": "forever",
		"hub.workspaces_root": filepath.Join(home, "runner-workspaces"), "hub.rate": "50", "commands.grace": "2s",
	} {
		if v := shown(t, s, name); v.Text != want || v.Origin.Kind != FromDefault {
			t.Errorf("%s is %q from %s, want %q", name, v.Text, v.Origin, want)
		}
	}
	if want := min(max(8, 2*runtime.NumCPU()), 256); s.Commands.Parallel != want {
		t.Errorf("commands.parallel is %d, want %d", s.Commands.Parallel, want)
	}
	if s.Output.Result != 32768 || s.Commands.Umask != nil || s.Commands.Deadline != 14*time.Second {
		t.Errorf("the typed defaults: %+v", s)
	}
}

func TestTheStrongerSourceWins(t *testing.T) {
	src := withFile(t, someone(t, "RUNNER_COMMANDS_DEADLINE=20s", "RUNNER_LOG_LEVEL=warn", "RUNNER_TERMINALS_MAX="),
		"{\n \"commands\": {\"deadline\": \"30s\",\n  \"queue\": 7},\n \"log\": {\"level\": \"debug\"}, \"terminals\": {\"max\": 3}}")
	src.Flags = map[string]string{"log.level": "error"}
	s, err := Load(src)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][2]string{}
	for _, name := range []string{"commands.deadline", "commands.queue", "log.level", "terminals.max", "commands.grace"} {
		v := shown(t, s, name)
		got[name] = [2]string{v.Text, v.From}
	}
	want := map[string][2]string{
		"log.level":         {"error", "--log-level"},
		"commands.deadline": {"20s", "RUNNER_COMMANDS_DEADLINE"},
		"commands.queue":    {"7", src.ConfigFile + ":3"},
		"terminals.max":     {"3", src.ConfigFile + ":4"}, // a variable that is set to nothing is not set
		"commands.grace":    {"2s", "default"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEveryFormOfValueIsRead(t *testing.T) {
	dir := filepath.ToSlash(t.TempDir())
	for _, tt := range []struct{ name, variable, file, want string }{
		{"api_url", "https://a.example/x/", `"https://a.example/x/"`, "https://a.example/x"},
		{"roots", `["` + dir + `"]`, `["` + dir + `"]`, `["` + dir + `"]`},
		{"allow_home_root", "true", `true`, "true"},
		{"proxy", "http://ana:geheim@proxy:3128", `"http://ana:geheim@proxy:3128"`, "http://%28hidden%29@proxy:3128"},
		{"connect.stable_after", "1m30s", `"1m30s"`, "1m30s"},
		{"connect.attempts", "300", `300`, "300"},
		{"connect.read_limit", "65536", `65536`, "64KiB"},
		{"commands.shell", `/bin/bash -o "no clobber"`, `"/bin/bash -o 'no clobber'"`, `["/bin/bash","-o","no clobber"]`},
		{"commands.umask", "027", `"027"`, "027"},
		{"commands.environment", `{"A":"geheim"}`, `{"A":"geheim"}`, `{"A":"(hidden)"}`},
		{"commands.limits", `{"cpu":1.5,"memory":"1GiB"}`, `{"cpu":1.5,"memory":"1GiB"}`,
			`{"cpu":1.5,"file_size":"0","memory":"1GiB","open_files":0,"pids":0}`},
		{"output.spool_total", "1TiB", `"1TiB"`, "1TiB"},
		{"container.engine", "unix:///run/d.sock", `"unix:///run/d.sock"`, "unix:///run/d.sock"},
		{"container.user", "1000:1000", `"image"`, ""},
		{"journal.keep", "3650d", `"3650d"`, "3650d"},
		{"git.protocols", "https", `"https"`, "https"},
		{"hub.hosts", `["a.example"]`, `["a.example"]`, `["a.example"]`},
		{"hub.events_keep", "90d", `"90d"`, "90d"},
	} {
		if runtime.GOOS == "windows" && tt.name == "roots" {
			continue
		}
		group, key, nested := strings.Cut(tt.name, ".")
		content := fmt.Sprintf(`{%q: %s}`, group, tt.file)
		if nested {
			content = fmt.Sprintf(`{%q: {%q: %s}}`, group, key, tt.file)
		}
		for _, src := range []Sources{someone(t, variableName(tt.name)+"="+tt.variable), withFile(t, someone(t), content)} {
			s, err := Load(src)
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
				continue
			}
			if v := shown(t, s, tt.name); tt.want != "" && v.Text != tt.want || v.Origin.Kind == FromDefault {
				t.Errorf("%s is %q from %s, want %q", tt.name, v.Text, v.From, tt.want)
			}
		}
	}
}

func TestABadVariableIsNamed(t *testing.T) {
	for _, entry := range []string{
		"RUNNER_COMMANDS_DEADLINE=soon", "RUNNER_COMMANDS_DEADLINE=25h", "RUNNER_COMMANDS_DEADLINE=-1s", "RUNNER_CONNECT_READ_LIMIT=1",
		"RUNNER_CONNECT_ATTEMPTS=0", "RUNNER_CONNECT_ATTEMPTS=many", "RUNNER_ROOTS=/home", `RUNNER_ROOTS=["relative"]`,
		"RUNNER_ALLOW_HOME_ROOT=maybe", "RUNNER_LOG_LEVEL=loud", "RUNNER_API_URL=ftp://x", "RUNNER_API_URL=https://a:b@x",
		"RUNNER_BASE=../x", "RUNNER_COMMANDS_UMASK=999", "RUNNER_COMMANDS_SHELL='", "RUNNER_PROXY=proxy:3128",
		`RUNNER_COMMANDS_ENVIRONMENT={"A=B":"c"}`, `RUNNER_COMMANDS_LIMITS={"disk":1}`, `RUNNER_COMMANDS_LIMITS={"cpu":-1}`,
		"RUNNER_CONTAINER_USER=ana", "RUNNER_CONTAINER_ENGINE=docker", "RUNNER_HUB_LISTEN=4680", "RUNNER_GIT_PROTOCOLS=ext::sh",
		"RUNNER_HUB_EVENTS_KEEP=never", "RUNNER_DRAIN_GRACE=1h", "RUNNER_OUTPUT_SPOOL=9223372036854775807GiB", "RUNNER_CONTAINER_PULL=0",
	} {
		_, err := Load(someone(t, entry))
		f := failuretest.Produced(t, err, failure.SettingInvalid)
		if name, _, _ := strings.Cut(entry, "="); f.Subject != name {
			t.Errorf("%s: the subject is %s", entry, f.Subject)
		}
	}
	src := someone(t)
	src.Flags = map[string]string{"log.level": "loud"}
	_, err := Load(src)
	if f := failure.As(err); f == nil || f.Subject != "--log-level" {
		t.Errorf("a bad flag: %v", err)
	}
}

func TestTheStopTimeoutIsLongerUnderSystemd(t *testing.T) {
	s, err := Load(someone(t, "RUNNER_DRAIN_GRACE=1h", "NOTIFY_SOCKET=/run/user/1000/notify"))
	if err != nil || s.Drain.Grace != time.Hour {
		t.Errorf("%v, %v", s.Drain.Grace, err)
	}
	// A shell on such a machine checks the settings of services.
	src := someone(t, "RUNNER_DRAIN_GRACE=1h")
	src.Systemd = true
	if _, err := Load(src); err != nil {
		t.Error(err)
	}
	src.Systemd = false
	_, err = Load(src)
	failuretest.Produced(t, err, failure.SettingInvalid)
}

func TestAHubThatOthersReachNeedsTLS(t *testing.T) {
	_, err := Load(someone(t, "RUNNER_HUB_LISTEN=0.0.0.0:4680"))
	failuretest.Produced(t, err, failure.SettingInvalid)
	cert := filepath.Join(t.TempDir(), "cert.pem")
	_, err = Load(someone(t, "RUNNER_HUB_TLS_CERT="+cert))
	failuretest.Produced(t, err, failure.SettingInvalid)
	for _, listen := range []string{"0.0.0.0:4680", "127.0.0.2:0", "[::1]:4680", "localhost:1"} {
		if _, err := Load(someone(t, "RUNNER_HUB_LISTEN="+listen, "RUNNER_HUB_TLS_CERT="+cert, "RUNNER_HUB_TLS_KEY="+cert)); err != nil {
			t.Error(err)
		}
	}
}

func TestRefusedValuesThatMayHoldASecretAreNotShown(t *testing.T) {
	for _, entry := range []string{"RUNNER_PROXY=ftp://ana:geheim@x", "RUNNER_API_URL=https://ana:geheim@x",
		`RUNNER_COMMANDS_ENVIRONMENT={"A":"geheim",}`} {
		if _, err := Load(someone(t, entry)); err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, err), "geheim") {
			t.Errorf("%v", err)
		}
	}
}

func TestOtherProgramsVariablesAreIgnoredAndSlipsFound(t *testing.T) {
	src := someone(t, "RUNNER_TOOL_CACHE=/opt", "RUNNER_COMMAND_DEADLINE=1s", "RUNNER_ROOT=/x")
	if _, err := Load(src); err != nil {
		t.Error(err)
	}
	want := []Misspelt{{"RUNNER_COMMAND_DEADLINE", "RUNNER_COMMANDS_DEADLINE"}, {"RUNNER_ROOT", "RUNNER_ROOTS"}}
	if diff := cmp.Diff(want, src.Misspelt()); diff != "" {
		t.Error(diff)
	}
}
