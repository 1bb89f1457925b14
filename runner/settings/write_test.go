package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func TestWriteFileReplacesTheWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "config.json")
	for _, content := range []string{"first, and long", "second"} {
		if err := WriteFile(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("%q, %v", got, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
	if runtime.GOOS == "windows" {
		return // there are no such modes
	}
	for p, want := range map[string]os.FileMode{path: 0o600, dir: 0o700, filepath.Dir(dir): 0o700} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", p, info.Mode(), err)
		}
	}
}

func TestWriteFileReplacesALinkAndNotWhatItNames(t *testing.T) {
	dir := t.TempDir()
	other, path := filepath.Join(dir, "other"), filepath.Join(dir, "config.json")
	put(t, other, "untouched")
	if err := os.Symlink(other, path); err != nil {
		t.Skip(err)
	}
	if err := WriteFile(path, []byte("ours")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(other); err != nil || string(got) != "untouched" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestReadersNeverSeeHalfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	contents := [][]byte{bytes.Repeat([]byte("a"), 100_000), bytes.Repeat([]byte("b"), 50_000)}
	if err := WriteFile(path, contents[0]); err != nil {
		t.Fatal(err)
	}
	var writer sync.WaitGroup
	done := make(chan struct{})
	writer.Go(func() {
		defer close(done)
		for i := range 50 {
			if err := WriteFile(path, contents[i%2]); err != nil {
				t.Error(err)
			}
		}
	})
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, contents[0]) && !bytes.Equal(got, contents[1]) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	}
	writer.Wait()
}

func TestASecretNeverShowsItself(t *testing.T) {
	s := NewSecret("geheim")
	holder := struct {
		Token   Secret
		Pointer *Secret
	}{s, &s}
	var log bytes.Buffer
	for _, h := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(h).Info("x", "token", s, "holder", holder)
	}
	marshalled, err := json.Marshal(map[string]any{"a": s, "b": holder, "c": map[Secret]int{s: 1}})
	if err != nil {
		t.Fatal(err)
	}
	log.Write(marshalled)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
		fmt.Fprintf(&log, verb+" "+verb+" ", s, holder)
	}
	if text := log.String(); strings.Contains(text, "geheim") || strings.Contains(text, "67656865696d") {
		t.Error(text)
	}
	if s.Reveal() != "geheim" || s.IsZero() || !(Secret{}).IsZero() || (Secret{}).String() != "" {
		t.Error("Reveal or IsZero")
	}
}

func TestFoldersFollowTheVariablesOfTheSources(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the usual folders are those of Linux here")
	}
	for _, name := range []string{"XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"} {
		if os.Getenv(name) != "" {
			t.Skipf("%s was set when this process began", name)
		}
	}
	got := Sources{Environ: []string{"HOME=/home/ana", "XDG_STATE_HOME=/srv/state", "XDG_CACHE_HOME=relative", "XDG_RUNTIME_DIR=/run/x"}}.Folders()
	want := Folders{Home: "/home/ana", Config: "/home/ana/.config/runner", State: "/srv/state/runner",
		Data: "/home/ana/.local/share/runner", Cache: "/home/ana/.cache/runner", Runtime: "/run/x/runner"}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
