// Package logs keeps the log of a daemon or a hub: JSON lines in a folder of the user's own, in files that are rotated by
// size and bounded together, and text for people beside it. It also reads such folders again, for `runner logs`.
//
// Writing never fails the daemon: a disk that is full or gone costs lines, nothing else. The rotation owns one
// goroutine a process, which deletes old files.
package logs

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"gopkg.in/natefinch/lumberjack.v2"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/redact"
)

// FileName is the current file in a log's folder; rotated ones have a time between its two parts.
const FileName = "runner.log"

// maxFile is the size of one file in MiB (settings.md: log.total).
const maxFile = 10

// Options say what is logged and where.
type Options struct {
	Folder string // made with mode 0700
	Total  int64  // bytes of all files together (log.total)
	Level  slog.Level
	People io.Writer // gets the same as text; nil: nobody
	// Secrets are taken out of every line; nil: there are none.
	Secrets *redact.Known
}

// Open gives a logger, and what closes its file. Where the folder can't be used, the failure LogUnwritable says so; the
// logger and the closer are there all the same, and people get the text.
func Open(o Options) (*slog.Logger, io.Closer, error) {
	var handlers []slog.Handler
	if o.People != nil {
		handlers = append(handlers, slog.NewTextHandler(o.Secrets.Lines(o.People), &slog.HandlerOptions{Level: o.Level}))
	}
	var file io.Closer = io.NopCloser(nil)
	err := prove(o.Folder)
	if err == nil {
		size := max(1, min(maxFile, o.Total>>20))
		rotated := &lumberjack.Logger{
			Filename: filepath.Join(o.Folder, FileName), MaxSize: int(size), MaxBackups: int(o.Total>>20/size) - 1,
		}
		if rotated.MaxBackups == 0 {
			rotated.MaxBackups = 1 // zero would keep all; one beside the current file is the least there is
			rotated.MaxSize = int(max(1, size/2))
		}
		file = rotated
		handlers = append(handlers, slog.NewJSONHandler(o.Secrets.Lines(escaped{rotated}), &slog.HandlerOptions{Level: o.Level, ReplaceAttr: readable}))
	}
	return slog.New(newSparing(slog.NewMultiHandler(handlers...))), file, err
}

// readable writes durations as people do; JSON alone would have nanoseconds.
func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// prove makes the folder and its file, so that what is wrong is said once, at the start.
func prove(folder string) error {
	err := os.MkdirAll(folder, 0o700)
	if err == nil {
		err = os.Chmod(folder, 0o700)
	}
	if err == nil {
		var f *os.File
		// The rotation would make the file with this mode, too, and keep a looser one.
		if f, err = os.OpenFile(filepath.Join(folder, FileName), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err == nil {
			err = f.Chmod(0o600)
			f.Close()
		}
	}
	if err != nil {
		return failure.New(failure.LogUnwritable, folder).Wrap(err)
	}
	return nil
}
