package service

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"howett.net/plist"
)

var update = flag.Bool("update", false, "write what is rendered into the golden files")

// cases are one service of each sort, with everything in the names that a unit could trip over.
func cases() map[string]Definition {
	machine := Definition{
		ID: ID{Kind: Machine}, Program: "/usr/bin/runner", Arguments: []string{"run"}, Folder: "/home/ana/.config/runner",
		Environment: map[string]string{"PATH": "/home/ana/bin:/usr/bin:/bin", "LANG": "pt_BR.UTF-8"}, Umask: 0o22, Grace: 27 * time.Second,
	}
	project := machine
	project.ID = ID{Kind: Project, Project: "7c1e"}
	project.Program = "/home/ana/my tools/runner"
	project.Folder = "/home/ana/100% loja $HOME"
	project.Arguments = []string{"run", "--project", "7c1e", "--dir", project.Folder, "--api-url", "https://brabo.example/api?a=1&b=<2>"}
	project.Environment = map[string]string{"PATH": `/a b:/c\d:/50%:/$x`, "GREETING": `say "olá"; 'x'`}
	project.Umask = 0o27
	hub := machine
	hub.ID = ID{Kind: Hub}
	hub.Arguments, hub.Folder = []string{"hub"}, "/home/ana"
	system := machine
	system.ID = ID{Kind: Machine, System: true}
	system.User = "ana"
	return map[string]Definition{"machine": machine, "project": project, "hub": hub, "system": system}
}

func TestUnitsAreRenderedAsRecorded(t *testing.T) {
	for name, d := range cases() {
		for _, h := range []Host{
			{System: "linux", Home: "/home/ana", ConfigHome: "/home/ana/.config", Manager: 252},
			{System: "darwin", Home: "/Users/ana"},
			{System: "windows"},
		} {
			if h.System == "windows" {
				d.User = "ana"
			}
			t.Run(name+"_"+h.System, func(t *testing.T) {
				got, err := h.Unit(d)
				if err != nil {
					t.Fatal(err)
				}
				golden(t, name+"_"+h.System, got)
			})
			if h.System == "windows" {
				continue
			}
			t.Run(name+"_"+h.System+"_read_back", func(t *testing.T) {
				text, err := h.Unit(d)
				if err != nil {
					t.Fatal(err)
				}
				back, err := h.readUnit([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(d, back); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestDelayGrowsWhereSystemdKnowsHow(t *testing.T) {
	text, err := Host{System: "linux", Manager: 257}.Unit(cases()["machine"])
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "machine_linux_257", text)
}

func TestTemplateServesTheUserItIsNamedAfter(t *testing.T) {
	golden(t, "template", Template("/usr/bin/runner", 27*time.Second))
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// TestPropertyListSaysWhatLaunchdReads reads the list as launchd does: by its keys and types, not by our own struct.
func TestPropertyListSaysWhatLaunchdReads(t *testing.T) {
	d := cases()["project"]
	text, err := Host{System: "darwin", Home: "/Users/ana"}.Unit(d)
	if err != nil {
		t.Fatal(err)
	}
	var job map[string]any
	if _, err := plist.Unmarshal([]byte(text), &job); err != nil {
		t.Fatal(err)
	}
	words := []any{d.Program}
	for _, a := range d.Arguments {
		words = append(words, a)
	}
	want := map[string]any{
		"Label": "dev.brabo.local-runner.7c1e", "ProgramArguments": words, "WorkingDirectory": d.Folder,
		"EnvironmentVariables": map[string]any{"PATH": d.Environment["PATH"], "GREETING": d.Environment["GREETING"]},
		"Umask":                uint64(0o27), "RunAtLoad": true, "KeepAlive": map[string]any{"Crashed": true},
		"ThrottleInterval": uint64(30), "ExitTimeOut": uint64(27), "SoftResourceLimits": map[string]any{"Core": uint64(0)},
	}
	delete(job, "DevBraboRunnerDefinition")
	if diff := cmp.Diff(want, job); diff != "" {
		t.Error(diff)
	}
}

func TestNamesAreThoseOfTheSettingsTable(t *testing.T) {
	for _, c := range []struct {
		system string
		id     ID
		want   string
	}{
		{"linux", ID{Kind: Machine}, "/home/ana/.config/systemd/user/runner.service"},
		{"linux", ID{Kind: Project, Project: "7c1e"}, "/home/ana/.config/systemd/user/runner-7c1e.service"},
		{"linux", ID{Kind: Hub}, "/home/ana/.config/systemd/user/runner-hub.service"},
		{"linux", ID{Kind: Machine, System: true}, "/etc/systemd/system/runner.service"},
		{"darwin", ID{Kind: Machine}, "/home/ana/Library/LaunchAgents/dev.brabo.local-runner.plist"},
		{"darwin", ID{Kind: Project, Project: "7c1e"}, "/home/ana/Library/LaunchAgents/dev.brabo.local-runner.7c1e.plist"},
		{"darwin", ID{Kind: Hub, System: true}, "/Library/LaunchDaemons/dev.brabo.local-runner.hub.plist"},
	} {
		h := Host{System: c.system, Home: "/home/ana", ConfigHome: "/home/ana/.config"}
		if got := filepath.ToSlash(h.Path(c.id)); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.system, c.id, got, c.want)
		}
	}
	windows := Host{System: "windows"}
	if got := windows.Name(ID{Kind: Machine}) + " " + windows.Name(ID{Kind: Hub}); got != "runner runner-hub" {
		t.Error(got)
	}
}

func TestWordsAreQuotedAsWindowsProgramsTakeThemApart(t *testing.T) {
	for in, want := range map[string]string{
		`plain`: `plain`, ``: `""`, `a b`: `"a b"`, `C:\dir\`: `C:\dir\`, `C:\my dir\`: `"C:\my dir\\"`, `say "x"`: `"say \"x\""`,
		`a\"b c`: `"a\\\"b c"`,
	} {
		if got := quoteWindows(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
