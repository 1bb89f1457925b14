package settings

import (
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestAFileThatIsNotWhollyUnderstoodIsRefused(t *testing.T) {
	for _, tt := range []struct {
		name, content, line, says string
	}{
		{"an unknown key", "{\n\"comands\": {}}", "2", "commands"},
		{"an unknown key in a group", "{\"commands\": {\n\n\"dead_line\": \"1s\"}}", "3", "commands.deadline"},
		{"an unknown key far from all", "{\"zzzzzzzzzzzzzzzz\": 1}", "1", "config show"},
		{"a key with a dot", `{"commands.deadline": "1s"}`, "1", `{"commands": {"deadline"`},
		{"a group that is no object", `{"commands": 3}`, "1", "must be an object"},
		{"a number for a duration", "{\"commands\": {\n\"deadline\": 14}}", "2", "wrong type"},
		{"a text for a truth", `{"allow_home_root": "true"}`, "1", "true or false"},
		{"a truth for a number", `{"connect": {"attempts": true}}`, "1", "wrong type"},
		{"a fraction for a number", `{"connect": {"attempts": 1.5}}`, "1", "whole number"},
		{"null", `{"roots": null}`, "1", "null"},
		{"a list with a number", `{"roots": [1]}`, "1", "list of texts"},
		{"a number for an umask", `{"commands": {"umask": 22}}`, "1", "octal"},
		{"a value out of range", "{\n\n\"connect\": {\"heartbeat\": \"55s\"}}", "3", "5s to 50s"},
		{"a key that stands twice", "{\"base\": \"/a\",\n\"base\": \"/b\"}", "2", "line 1"},
		{"a group that stands twice", "{\"log\": {},\n\"log\": {}}", "2", "line 1"},
		{"broken JSON", "{\n\"base\": \"/a\",\n}", "3", "not JSON"},
		{"half a file", "{\n\"base\": ", "2", "not JSON"},
		{"an empty file", "", "1", "not JSON"},
		{"two objects", "{}\n{}", "2", "not JSON"},
		{"a list", "[]", "1", "not a JSON object"},
		{"too large", strings.Repeat(" ", largestFile) + "{}", "", "larger than 1MiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := withFile(t, someone(t), tt.content)
			_, err := Load(src)
			f := failuretest.Produced(t, err, failure.SettingsInvalid)
			want := src.ConfigFile
			if tt.line != "" {
				want += ":" + tt.line
			}
			if f.Subject != want {
				t.Errorf("the place is %s, want %s", f.Subject, want)
			}
			if text := f.Error(); !strings.Contains(text, tt.says) {
				t.Errorf("nothing says %q: %s", tt.says, text)
			}
		})
	}
}

func TestTheUsualFileNeedNotExistAndANamedOneMust(t *testing.T) {
	src := someone(t)
	if _, err := Load(src); err != nil {
		t.Error(err)
	}
	put(t, filepath.Join(src.Folders().Config, "config.json"), "\xef\xbb\xbf{\"terminals\": {\"max\": 3}}")
	if s, err := Load(src); err != nil || s.Terminals.Max != 3 {
		t.Errorf("%d, %v", s.Terminals.Max, err)
	}
	src.ConfigFile = filepath.Join(src.WorkDir, "missing.json")
	_, err := Load(src)
	failuretest.Produced(t, err, failure.SettingsInvalid)
}

// FuzzLoad demands that any file is understood or refused by name.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{`{}`, `{"commands": {"deadline": "1s", "umask": "022"}}`, `{"commands": {"limits": {"memory": 1}}}`,
		`{"roots": ["/a"], "proxy": "http://x"}`, `{"a.b": {"c": [1, {"d": null}]}}`, "{\"base\":\"/a\"}x", "\xff"} {
		f.Add(seed)
	}
	path := filepath.Join(f.TempDir(), "config.json")
	f.Fuzz(func(t *testing.T, content string) {
		put(t, path, content)
		if _, err := Load(Sources{ConfigFile: path}); err != nil && failure.As(err) == nil {
			t.Errorf("a refusal without a name: %v", err)
		}
	})
}
