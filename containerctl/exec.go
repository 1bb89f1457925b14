package containerctl

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"brabo.dev/runner/runner/failure"
)

// ShellChoice says which shell inside runs a command's text.
type ShellChoice string

// The contract's shell is /bin/sh; text which other shells read differently (policy.md 17) wants Bash.
const (
	ShellPOSIX      ShellChoice = "sh"   // /bin/sh, and the zero value too
	ShellBashOrSh   ShellChoice = "auto" // the image's bash; where it has none, /bin/sh and a note
	ShellBashOrFail ShellChoice = "bash" // the image's bash; where it has none, bash_missing and nothing is run
)

// ExecCommand is one command in a running container.
type ExecCommand struct {
	Container string // id or name
	Text      string
	Cwd       string   // inside, from Translate; "" is MountPoint
	Env       []string // NAME=value, added to the container's own
	Umask     string   // octal, or "" for the container's
	Shell     ShellChoice
	// Output gets standard output and standard error in the order in which they came. It is not used after Exec has
	// returned. Its errors end nothing: the command goes on and its output is lost.
	Output   io.Writer
	Received time.Time     // from where Deadline's length counts; zero: now
	Deadline time.Time     // the result comes by then; zero: none
	Grace    time.Duration // between TERM and KILL, inside the deadline; at most a quarter of it

	ownExec bool // no worker is used; for tests of that way
}

// ExecResult is how a command ended.
type ExecResult struct {
	ExitCode  int  // -1: no real code
	TimedOut  bool // its deadline ended it
	Cancelled bool
	Left      int    // processes that were found and ended after the command itself
	Note      string // for a person: bash is missing inside, the container had to be restarted
	Duration  time.Duration
}

// maxText is the longest single argument that Linux takes, without its final NUL.
const maxText = 128*1024 - 1

// Exec runs a command and returns when it and all its children have ended, whatever happens: at the deadline and on
// cancellation they get TERM, then KILL, and what a command leaves in the background ends with it. A non-zero exit
// is no error. Errors are failures: timed_out, cancelled, expired_before_start, container_gone, engine_not_running,
// image_unusable, bash_missing, cwd_missing, could_not_start and others; the result is filled as far as it is known.
func (e *Engine) Exec(ctx context.Context, c ExecCommand) (ExecResult, error) {
	began := time.Now()
	if err := c.check(ctx, began); err != nil {
		return ExecResult{ExitCode: -1}, err
	}
	e.endLost(ctx, c.Container)
	s, err := e.begin(ctx, c)
	if err != nil {
		return ExecResult{ExitCode: -1}, err
	}
	stop := s.await(ctx, c.limit(began))
	if stop == nil && s.worker != nil && s.neverBegan(ctx) {
		// The worker was dead before it took the command. An exec of its own says why, or works.
		s.release()
		if s, err = e.attach(ctx, c); err != nil {
			return ExecResult{ExitCode: -1}, err
		}
		stop = s.await(ctx, c.limit(began))
	}
	if stop != nil {
		s.end(c.grace(began))
	}
	r, err := s.result(ctx, stop)
	r.Duration = time.Since(began)
	return r, err
}

func (c ExecCommand) check(ctx context.Context, now time.Time) error {
	switch {
	case ctx.Err() != nil:
		return failure.New(failure.Cancelled, c.Container).Because("it was cancelled before it started").Wrap(ctx.Err())
	case strings.TrimSpace(c.Text) == "":
		return failure.New(failure.CommandEmpty, c.Container)
	case strings.ContainsRune(c.Text, 0):
		return failure.New(failure.CommandNUL, c.Container)
	case len(c.Text) > maxText:
		return failure.New(failure.CommandTooLong, c.Container).
			Because("the text has %d bytes, the system takes %d", len(c.Text), maxText)
	case slices.ContainsFunc(c.Env, func(kv string) bool { return len(kv) > maxText }):
		return failure.New(failure.CommandTooLong, c.Container).
			Because("a variable of its environment has more than the %d bytes that the system takes", maxText)
	case !c.Deadline.IsZero() && !now.Before(c.Deadline):
		return failure.New(failure.ExpiredBeforeStart, c.Container)
	}
	return nil
}

// length is how long the command may take, from receipt to result.
func (c ExecCommand) length(now time.Time) time.Duration {
	if c.Received.IsZero() {
		return c.Deadline.Sub(now)
	}
	return c.Deadline.Sub(c.Received)
}

// grace is what fits of Grace (settings.md: commands.grace).
func (c ExecCommand) grace(now time.Time) time.Duration {
	if c.Deadline.IsZero() {
		return c.Grace
	}
	return min(c.Grace, c.length(now)/4)
}

// limit is when the ending of the command begins, so that the result comes by the deadline: the grace before it,
// and what the engine needs to start the shell that does the killing.
func (c ExecCommand) limit(now time.Time) time.Time {
	if c.Deadline.IsZero() {
		return time.Time{}
	}
	reserve := min(500*time.Millisecond, c.length(now)/10)
	return c.Deadline.Add(-c.grace(now) - reserve)
}

var (
	errDeadline  = errors.New("deadline")
	errCancelled = errors.New("cancelled")
)

// await waits until the command's stream has ended, or says why it has to be ended.
func (s *stream) await(ctx context.Context, limit time.Time) error {
	var late <-chan time.Time
	if !limit.IsZero() {
		timer := time.NewTimer(time.Until(limit))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-s.done:
		return nil
	case <-late:
		return errDeadline
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			return errDeadline
		}
		return errCancelled
	}
}
