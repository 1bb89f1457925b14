package logs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLogFileHidesNothingFromWhoLooksAtIt(t *testing.T) {
	const command = "rm '\u202etxt.\u2066' \x1b[2J \U000e0041 \u00a0ação 日本\n"
	folder := t.TempDir()
	var people strings.Builder
	log, file, err := Open(Options{Folder: folder, Total: 4 << 20, People: &people})
	if err != nil {
		t.Fatal(err)
	}
	log.Info("command started", "command", command)
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(folder, FileName))
	if err != nil {
		t.Fatal(err)
	}
	for who, text := range map[string]string{"the file": string(raw), "people": people.String()} {
		if strings.ContainsAny(text, "\u202e\u2066\x1b\U000e0041\u00a0") || !strings.Contains(text, "ação 日本") {
			t.Errorf("%s: %q", who, text)
		}
	}
	var line struct{ Command string }
	if err := json.Unmarshal(raw, &line); err != nil || line.Command != command {
		t.Errorf("%q, %v", line.Command, err)
	}
}
