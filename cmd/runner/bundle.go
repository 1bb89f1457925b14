package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/logs"
	"brabo.dev/runner/runner/redact"
)

// bundleLines is how many lines of each log go into a bundle.
const bundleLines = 5000

// bundleEntry is one file of a bundle.
type bundleEntry struct {
	name, what string
	content    []byte
}

// writeBundle lists what it is about to write, and writes it for this user alone. Nothing is replaced.
func writeBundle(ctx context.Context, path string, r report, say io.Writer) error {
	entries, err := bundleEntries(ctx, r)
	if err != nil {
		return err
	}
	fmt.Fprintf(say, "%s will hold:\n", path)
	for _, e := range entries {
		fmt.Fprintf(say, "  %-14s %7d bytes  %s\n", e.name, len(e.content), e.what)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return failure.New(failure.BundleNotWritten, path).Wrap(err)
	}
	err = writeArchive(file, entries, time.Now())
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(path)
		return failure.New(failure.BundleNotWritten, path).Wrap(err)
	}
	fmt.Fprintln(say, "written; read it before you send it to anybody")
	return nil
}

// bundleEntries gathers the files, with what looks like a secret taken out.
func bundleEntries(ctx context.Context, r report) ([]bundleEntry, error) {
	values, src, err := loadSettings()
	if err != nil {
		return nil, err
	}
	state := src.Folders().State
	var statuses []control.Status
	for _, f := range control.Find(ctx, state) {
		if f.Err == nil {
			statuses = append(statuses, f.Status)
		}
	}
	actions, _ := history(ctx, state, values.Journal, control.Query{Limit: 1000}) // what can be had
	for i := range actions {
		actions[i].Text = fmt.Sprintf("(%d bytes)", len(actions[i].Text))
	}
	folders, err := logFolders(src.Folders())
	if err != nil {
		return nil, err
	}
	lines, _ := logs.Read(folders, logs.Filter{Level: -8, Last: bundleLines}) // as above
	var log strings.Builder
	for _, e := range lines {
		log.WriteString(e.Raw + "\n")
	}
	about := map[string]string{"version": version, "system": runtime.GOOS + "/" + runtime.GOARCH, "go": runtime.Version()}
	secrets := knownSecrets(src, values, nil).Set()
	redacted := func(text []byte) []byte { return redact.Shapes(secrets.Bytes(text)) }
	var entries []bundleEntry
	for _, part := range []struct {
		name, what string
		value      any
	}{
		{"about.json", "version and system", about},
		{"doctor.json", "this report", r},
		{"status.json", "what running daemons say", statuses},
		{"settings.json", "settings with their origins, passwords masked", values.Values()},
		{"history.json", "actions without their texts", actions},
	} {
		raw, err := json.MarshalIndent(part.value, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", part.name, err)
		}
		entries = append(entries, bundleEntry{part.name, part.what, redacted(raw)})
	}
	return append(entries, bundleEntry{"runner.log", "the last lines of the logs, command texts included", redacted([]byte(log.String()))}), nil
}

func writeArchive(w io.Writer, entries []bundleEntry, now time.Time) error {
	zip := gzip.NewWriter(w)
	archive := tar.NewWriter(zip)
	for _, e := range entries {
		header := &tar.Header{Name: filepath.ToSlash(filepath.Join("runner-doctor", e.name)), Mode: 0o600, Size: int64(len(e.content)), ModTime: now}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(e.content); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return zip.Close()
}
