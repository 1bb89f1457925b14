package exec

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"brabo.dev/runner/runner/failure"
)

// refuse says why c must not start, or nil.
func refuse(ctx context.Context, c *Command, w window) *failure.Failure {
	switch {
	case strings.TrimSpace(c.Text) == "":
		return failure.New(failure.CommandEmpty, "the command text")
	case strings.ContainsRune(c.Text, 0):
		return failure.New(failure.CommandNUL, about(c))
	case !filepath.IsAbs(c.Dir):
		return failure.New(failure.CwdNotAbsolute, c.Dir)
	case c.Shell.Path == "":
		return failure.New(failure.ShellMissing, about(c))
	case !c.Shell.Bash && (c.PlainPOSIX == nil || !c.PlainPOSIX(c.Text)):
		return failure.New(failure.BashMissing, about(c)).
			Because("the text uses Bash, and the shell here is %s", c.Shell.Path)
	case ctx.Err() != nil:
		return failure.New(failure.Cancelled, about(c)).
			Because("the action was cancelled before it started").Wrap(context.Cause(ctx))
	case w.untilTerm(time.Now()) <= 0:
		return failure.New(failure.ExpiredBeforeStart, about(c))
	}
	return nil
}

// startFailure names what kept c's shell from starting.
func startFailure(c *Command, err error) *failure.Failure {
	if f := failure.As(err); f != nil {
		return f // of Enter
	}
	if tooLong(err) {
		return failure.New(failure.CommandTooLong, about(c)).
			Because("the command text has %d bytes, which with the environment is more than this system can start", len(c.Text)).Wrap(err)
	}
	dir, dirErr := os.Stat(c.Dir)
	if dirErr != nil || !dir.IsDir() {
		if dirErr == nil || errors.Is(dirErr, fs.ErrNotExist) {
			return failure.New(failure.CwdMissing, c.Dir).Wrap(err)
		}
		return failure.New(failure.CouldNotStart, c.Dir).Because("the folder can't be entered").Wrap(err)
	}
	if _, shellErr := exec.LookPath(c.Shell.Path); shellErr == nil && errors.Is(err, fs.ErrPermission) {
		return failure.New(failure.CouldNotStart, c.Dir).Because("this user may not enter the folder").
			Then("look at owner and mode of the folder").Wrap(err)
	}
	return failure.New(failure.CouldNotStart, c.Shell.Path).Wrap(err)
}

// about is the command text as a failure's subject: its first line, shortened.
func about(c *Command) string {
	const most = 120 // characters
	line, more, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(c.Text), "\x00", `\0`), "\n")
	runes := []rune(line)
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	if more != "" {
		return line + " …"
	}
	return line
}
