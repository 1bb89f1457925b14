package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/logs"
	"brabo.dev/runner/runner/settings"
)

// logFlags are what `runner logs` is asked for.
type logFlags struct {
	follow, json  bool
	last          int
	since         string
	action, level string
}

func newLogsCommand() *cobra.Command {
	var flags logFlags
	cmd := &cobra.Command{
		Use:   "logs",
		Short: "Show the log of this machine's daemons and hub",
		Long: `logs shows what the daemons and the hub of this user have logged, oldest first. It reads the files in the state
folder, so it works when no daemon runs. Control characters in what was logged are made visible.`,
		Example: `  runner logs -f
  runner logs --since 2h --level warn
  runner logs --action ID --json`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return showLogs(cmd, flags)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&flags.follow, "follow", "f", false, "go on with the lines that come, until Ctrl-C")
	f.IntVarP(&flags.last, "lines", "n", 100, "how many of the last lines; 0 is all")
	f.StringVar(&flags.since, "since", "", "only lines since then: a duration like 90m or 2d, or a time as RFC 3339 has it")
	f.StringVar(&flags.action, "action", "", "only lines about the action with this ref")
	f.StringVar(&flags.level, "level", "debug", "the lowest level: debug, info, warn or error")
	f.BoolVar(&flags.json, "json", false, "the lines as they stand in the files, one JSON object each")
	return cmd
}

func showLogs(cmd *cobra.Command, flags logFlags) error {
	src, err := processSources()
	if err != nil {
		return err
	}
	filter := logs.Filter{Action: flags.action, Last: flags.last}
	if err := filter.Level.UnmarshalText([]byte(flags.level)); err != nil || flags.last < 0 {
		return usageError(failure.New(failure.Usage, "logs").Because("--level is none of debug, info, warn and error, or -n is negative"))
	}
	if filter.Since, err = sinceFlag(flags.since, time.Now()); err != nil {
		return usageError(err)
	}
	folders, err := logFolders(src.Folders())
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	show := func(e logs.Entry) {
		if flags.json {
			fmt.Fprintln(out, e.Raw)
			return
		}
		writeEntry(out, e)
	}
	if flags.follow {
		filter.Ends = logs.EndsOf(folders)
	}
	entries, err := logs.Read(folders, filter)
	for _, e := range entries {
		show(e)
	}
	if !flags.json {
		err = orNone(cmd, err, len(entries), noLine(flags))
	}
	if err != nil || !flags.follow {
		return err
	}
	return logs.Follow(cmd.Context(), folders, filter, show)
}

// noLine says that nothing was logged, or nothing that was asked for.
func noLine(flags logFlags) string {
	text := "no daemon and no hub of this user has logged anything yet"
	if flags.since != "" || flags.action != "" || flags.level != "debug" {
		text = "no line of that kind was logged"
	}
	if flags.follow {
		text += "; those that come are shown until Ctrl-C"
	}
	return text
}

// sinceFlag reads a duration before now, or a time.
func sinceFlag(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := settings.ParseDuration(text); err == nil {
		return now.Add(-d), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, failure.New(failure.Usage, "--since "+text).
			Because("it is neither a duration like 90m or 2d nor a time like 2026-11-02T10:15:30Z")
	}
	return t, nil
}

// logFolder is where a daemon with this state folder logs.
func logFolder(state string) string { return filepath.Join(state, "log") }

// hubLogFolder is where the hub of this user logs.
func hubLogFolder(f settings.Folders) string { return logFolder(filepath.Join(f.State, "hub")) }

// logFolders are those of every daemon of this user and of the hub.
func logFolders(f settings.Folders) ([]string, error) {
	folders := []string{logFolder(f.State), hubLogFolder(f)}
	projects, err := filepath.Glob(filepath.Join(globEscape(f.State), "projects", "*", "log"))
	if err != nil {
		return nil, fmt.Errorf("looking for logs: %w", err)
	}
	return append(folders, projects...), nil
}

// globEscape makes path match itself alone. On Windows a pattern has no escapes, and brackets can't be helped.
func globEscape(path string) string {
	if filepath.Separator == '\\' {
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// writeEntry writes one line for people, and a failure in a paragraph of its own below it.
func writeEntry(w io.Writer, e logs.Entry) {
	var line, below strings.Builder
	if !e.Time.IsZero() {
		fmt.Fprintf(&line, "%s %-5s ", e.Time.Local().Format("2006-01-02 15:04:05.000"), e.Level)
	}
	line.WriteString(visible(e.Message))
	for _, a := range e.Attrs {
		var f failure.Failure
		if a.Name == "failure" && json.Unmarshal(a.Value, &f) == nil && f.Name != "" {
			fmt.Fprintf(&below, "    %s\n", visible(f.Error()))
			continue
		}
		fmt.Fprintf(&line, " %s=%s", visible(a.Name), attrText(a.Value))
	}
	fmt.Fprintf(w, "%s\n%s", line.String(), below.String())
}

// attrText is a value as people read it.
func attrText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return visible(string(bytes.TrimSpace(raw)))
	}
	if shown := visible(text); text == "" || strings.ContainsAny(text, " =\"") || shown != text {
		return `"` + shown + `"`
	}
	return text
}

// levelOf is the level of a setting that settings.Load has accepted.
func levelOf(name string) slog.Level {
	var l slog.Level
	if err := l.UnmarshalText([]byte(name)); err != nil {
		return slog.LevelInfo
	}
	return l
}
