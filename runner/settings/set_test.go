package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestSetChangesOneValueAndKeepsTheRest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runner", "config.json")
	src := Sources{ConfigFile: path}
	set := func(name, text string) {
		t.Helper()
		if err := Set(src, name, &text); err != nil {
			t.Fatal(err)
		}
	}
	set("commands.deadline", "30s")
	set("commands.parallel", "3")
	set("api_url", "https://brabo.example")
	set("commands.environment", `{"CI":"1"}`)
	set("allow_home_root", "true")
	set("commands.deadline", "40s")
	s, err := Load(src)
	if err != nil {
		t.Fatal(err)
	}
	if s.Commands.Deadline != 40*time.Second || s.Commands.Parallel != 3 || s.APIURL != "https://brabo.example" || s.Commands.Environment["CI"] != "1" || !s.AllowHomeRoot {
		t.Errorf("%+v", s)
	}
	if err := Set(src, "commands.deadline", nil); err != nil {
		t.Fatal(err)
	}
	if s, err = Load(src); err != nil || s.Commands.Deadline == 40*time.Second || s.Commands.Parallel != 3 {
		t.Errorf("%+v, %v", s.Commands, err)
	}
	for _, name := range []string{"commands.parallel", "commands.environment", "api_url", "allow_home_root"} {
		if err := Set(src, name, nil); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := os.ReadFile(path); err != nil || strings.TrimSpace(string(data)) != "{}" {
		t.Errorf("%s, %v", data, err)
	}
}

func TestSetRefusesByNameAndWritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	src := Sources{ConfigFile: path}
	for _, c := range []struct {
		file, name, text string
		want             failure.Name
	}{
		{`{}`, "commands.deadlin", "3s", failure.Usage},
		{`{}`, "commands", "{}", failure.Usage},
		{`{}`, "commands.deadline", "soon", failure.SettingInvalid},
		{`{}`, "commands.parallel", "1000", failure.SettingInvalid},
		{`{"log":{"level":"loud"}}`, "commands.parallel", "1", failure.SettingsInvalid},
		{`{"log":`, "commands.parallel", "1", failure.SettingsInvalid},
	} {
		if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		failuretest.Produced(t, Set(src, c.name, &c.text), c.want)
		if data, err := os.ReadFile(path); err != nil || string(data) != c.file {
			t.Errorf("%s became %s, %v", c.file, data, err)
		}
	}
	_, err := Settings{}.Find("commands.deadlin")
	failuretest.Produced(t, err, failure.Usage)
	if !strings.Contains(err.Error(), "commands.deadline") {
		t.Error(err)
	}
	blocked := filepath.Join(path, "config.json")
	one := "1"
	failuretest.Produced(t, Set(Sources{ConfigFile: blocked}, "commands.parallel", &one), failure.SettingsInvalid)
}
