package logs

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/redact"
)

func open(t *testing.T, o Options) *slog.Logger {
	t.Helper()
	log, file, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return log
}

func texts(t *testing.T, folders []string, f Filter) []string {
	t.Helper()
	entries, err := Read(folders, f)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Message)
	}
	return all
}

func TestWhatIsLoggedIsReadAgain(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state", "log")
	var people bytes.Buffer
	log := open(t, Options{Folder: folder, Total: 100 << 20, Level: slog.LevelInfo, People: &people})
	log.Debug("unseen")
	log.Info("received", "ref", "a", "command", "ls\x1b[2J")
	log.With("project", "p").Warn("refused", "ref", "b", "failure", failure.New(failure.CwdOutside, "/etc"), "after", 1500*time.Millisecond)
	if !strings.Contains(people.String(), "msg=refused project=p") || strings.Contains(people.String(), "unseen") {
		t.Error(people.String())
	}
	entries, err := Read([]string{folder}, Filter{Level: slog.LevelDebug})
	if err != nil || len(entries) != 2 {
		t.Fatalf("%+v, %v", entries, err)
	}
	e := entries[1]
	if e.Message != "refused" || e.Level != slog.LevelWarn || e.Attr("project") != "p" || e.Attr("after") != "1.5s" || time.Since(e.Time) > time.Hour {
		t.Errorf("%+v", e)
	}
	if !strings.Contains(e.Raw, `"failure":{"name":"cwd_outside","subject":"/etc"`) {
		t.Error(e.Raw)
	}
	for _, c := range []struct {
		f    Filter
		want []string
	}{
		{Filter{Level: slog.LevelWarn}, []string{"refused"}},
		{Filter{Level: slog.LevelDebug, Action: "a"}, []string{"received"}},
		{Filter{Level: slog.LevelDebug, Last: 1}, []string{"refused"}},
		{Filter{Level: slog.LevelDebug, Since: time.Now().Add(time.Minute)}, nil},
	} {
		if diff := cmp.Diff(c.want, texts(t, []string{folder}, c.f)); diff != "" {
			t.Errorf("%+v: %s", c.f, diff)
		}
	}
}

func TestSecretsAreTakenOutOfEveryLine(t *testing.T) {
	const secret = `a "secret" & more`
	known := &redact.Known{}
	known.Keep(secret)
	folder := t.TempDir()
	var people bytes.Buffer
	log := open(t, Options{Folder: folder, Total: 1 << 20, People: &people, Secrets: known})
	log.With("project", secret).WithGroup("g").Warn("about "+secret, secret, 1, "failure", failure.New(failure.CwdOutside, secret).Wrap(errors.New(secret)),
		"env", map[string]string{"T": secret}, "url", "https://x?ticket="+url.QueryEscape(secret))
	entries, err := Read([]string{folder}, Filter{})
	if err != nil || len(entries) != 1 || entries[0].Message != "about (redacted)" || entries[0].Attr("project") != "(redacted)" {
		t.Fatalf("%+v, %v", entries, err)
	}
	for _, text := range []string{people.String(), entries[0].Raw} {
		if strings.Count(text, "(redacted)") < 6 || redact.New(secret).Text(text) != text {
			t.Error(text)
		}
	}
}

func TestFilesAreForTheirOwnerAlone(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "log")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, FileName), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, Options{Folder: folder, Total: 1 << 20}).Info("x")
	for path, want := range map[string]fs.FileMode{folder: 0o700, filepath.Join(folder, FileName): 0o600} {
		if info, err := os.Stat(path); err != nil || os.PathSeparator == '/' && info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestFilesStayWithinTheirTotal(t *testing.T) {
	folder := t.TempDir()
	const total = 3 << 20
	log := open(t, Options{Folder: folder, Total: total})
	line := strings.Repeat("x", 64<<10)
	for range 200 {
		log.Info(line)
	}
	// The rotation deletes old files in its own time: their number is bounded once it has looked.
	deadline := time.Now().Add(time.Minute)
	for {
		files, err := filesOf(folder)
		if err != nil {
			t.Fatal(err)
		}
		var size int64
		for _, f := range files {
			if info, err := os.Stat(f); err == nil {
				size += info.Size()
			}
		}
		if size <= total && len(files) > 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes in %d files", size, len(files))
		}
	}
	if got := texts(t, []string{folder}, Filter{Last: 3}); len(got) != 3 || got[2] != line {
		t.Errorf("%d lines", len(got))
	}
}

func TestFolderThatCantBeUsedIsNamedAndTheLogGoesOn(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var people bytes.Buffer
	log, file, err := Open(Options{Folder: filepath.Join(blocked, "log"), Total: 1 << 20, People: &people})
	failuretest.Produced(t, err, failure.LogUnwritable)
	log.Info("still here")
	if err := file.Close(); err != nil || !strings.Contains(people.String(), "still here") {
		t.Error(people.String(), err)
	}
}

func TestFolderThatCantBeReadIsNamedAndTheOthersAreRead(t *testing.T) {
	good, bad := t.TempDir(), filepath.Join(t.TempDir(), "file")
	open(t, Options{Folder: good, Total: 1 << 20}).Info("here")
	if err := os.WriteFile(bad, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	entries, err := Read([]string{bad, good, filepath.Join(good, "nowhere")}, Filter{})
	failuretest.Produced(t, err, failure.LogUnreadable)
	if len(entries) != 1 {
		t.Errorf("%+v", entries)
	}
}

func TestLinesThatAreNoLogAreKeptAsTheyStand(t *testing.T) {
	folder := t.TempDir()
	lines := []string{`panic: out of luck`, `{"time":"2026-11-02T10:15:30Z","level":"INFO","msg":"cut o`, `[1]`, `{"msg":7}`, strings.Repeat("z", 2*maxLine)}
	if err := os.WriteFile(filepath.Join(folder, FileName), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	want := append(append([]string{}, lines[:3]...), "", lines[4][:maxLine], lines[4][maxLine:])
	if diff := cmp.Diff(want, texts(t, []string{folder}, Filter{})); diff != "" {
		t.Error(diff[:min(len(diff), 2000)])
	}
}

func TestRepeatedWarningsAreCountedInsteadOfWritten(t *testing.T) {
	var people bytes.Buffer
	h := newSparing(slog.NewTextHandler(&people, nil))
	now := time.Now()
	say := func(level slog.Level, text string, at time.Time) {
		if err := h.Handle(context.Background(), slog.NewRecord(at, level, text, 0)); err != nil {
			t.Fatal(err)
		}
	}
	for range 80 {
		say(slog.LevelWarn, "again", now)
		say(slog.LevelInfo, "work", now)
	}
	say(slog.LevelWarn, "another", now)
	say(slog.LevelWarn, "again", now.Add(sparingWindow))
	got := people.String()
	if n := strings.Count(got, "msg=again"); n != sparingBurst+1 {
		t.Errorf("%d repeated warnings were written", n)
	}
	if strings.Count(got, "msg=work") != 80 || strings.Count(got, "msg=another") != 1 || strings.Count(got, "withheld=30") != 1 {
		t.Error(got)
	}
}

func TestFollowShowsWhatComesAcrossARotation(t *testing.T) {
	folder := t.TempDir()
	log := open(t, Options{Folder: folder, Total: 2 << 20})
	log.Info("before")
	ctx, cancel := context.WithCancel(t.Context())
	shown, done := make(chan string, 100), make(chan error, 1)
	go func() {
		done <- Follow(ctx, []string{folder, filepath.Join(folder, "later")}, Filter{Level: slog.LevelInfo}, func(e Entry) { shown <- e.Message[:5] })
	}()
	next := func() string {
		select {
		case text := <-shown:
			return text
		case err := <-done:
			t.Fatal(err)
		case <-time.After(time.Minute):
			t.Fatal("nothing was shown")
		}
		return ""
	}
	// Following begins at a moment that can't be seen from here: the first lines are written until one is shown.
	for began := false; !began; {
		log.Info("first")
		select {
		case text := <-shown:
			began = text == "first"
		case err := <-done:
			t.Fatal(err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	log.Info("large" + strings.Repeat("x", 1<<20-200)) // does not fit beside the rest: a new file
	for next() != "large" {
	}
	cancel()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Each line is shown once, whether it came before or after the reading, or between it and the following.
func TestFollowGoesOnWhereReadingEnded(t *testing.T) {
	folder := t.TempDir()
	log := open(t, Options{Folder: folder, Total: 2 << 20})
	log.Info("read")
	folders := []string{folder, filepath.Join(folder, "later")}
	f := Filter{Level: slog.LevelInfo, Ends: EndsOf(folders)}
	log.Info("between")
	entries, err := Read(folders, f)
	if err != nil || len(entries) != 1 || entries[0].Message != "read" {
		t.Fatalf("%v, %v", entries, err)
	}
	log.Info("after")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	shown, done := make(chan string, 100), make(chan error, 1)
	go func() { done <- Follow(ctx, folders, f, func(e Entry) { shown <- e.Message }) }()
	for _, want := range []string{"between", "after"} {
		select {
		case got := <-shown:
			if got != want {
				t.Errorf("%q was shown, not %q", got, want)
			}
		case err := <-done:
			t.Fatal(err)
		case <-time.After(time.Minute):
			t.Fatalf("%q was never shown", want)
		}
	}
	cancel()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"time":"2026-11-02T10:15:30Z","level":"WARN","msg":"x","failure":{"name":"a"},"n":1}`)
	f.Add(`{"msg":"x"`)
	f.Add(`{"time":7,"level":"LOUD","msg":null}`)
	f.Fuzz(func(t *testing.T, line string) {
		if e := parse(line); e.Raw != line {
			t.Errorf("%q became %q", line, e.Raw)
		}
	})
}
