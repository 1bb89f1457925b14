//go:build unix

package exec

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// refused runs c, which must not start.
func refused(t *testing.T, ctx context.Context, c Command) *failure.Failure {
	t.Helper()
	c.Started = func(int, string) { t.Error("it was started") }
	res := Run(ctx, c)
	if res.ExitCode != -1 || res.Output != "" || res.TimedOut {
		t.Errorf("%+v", res)
	}
	return res.Failure
}

// Needs real bash, which never starts.
func TestRunRefusesByName(t *testing.T) {
	ctx := context.Background()
	good := command(t, `true`)
	with := func(change func(*Command)) Command {
		c := good
		change(&c)
		return c
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("no text", func(t *testing.T) {
		failuretest.Produced(t, refused(t, ctx, with(func(c *Command) { c.Text = " \n" })), failure.CommandEmpty)
	})
	t.Run("a NUL in the text", func(t *testing.T) {
		f := failuretest.Produced(t, refused(t, ctx, with(func(c *Command) { c.Text = "echo \x00" })), failure.CommandNUL)
		if strings.Contains(f.Subject, "\x00") {
			t.Errorf("subject %q", f.Subject)
		}
	})
	t.Run("a text longer than an argument can be", func(t *testing.T) {
		f := failuretest.Produced(t, refused(t, ctx, with(func(c *Command) { c.Text = "true " + strings.Repeat("x", 300<<10) })), failure.CommandTooLong)
		if len(f.Subject) > 200 {
			t.Errorf("a subject of %d bytes", len(f.Subject))
		}
	})
	t.Run("a relative folder", func(t *testing.T) {
		failuretest.Produced(t, refused(t, ctx, with(func(c *Command) { c.Dir = "." })), failure.CwdNotAbsolute)
	})
	t.Run("a folder that is not there", func(t *testing.T) {
		failuretest.Produced(t, refused(t, ctx, with(func(c *Command) { c.Dir += "/missing" })), failure.CwdMissing)
	})
	t.Run("a folder that is a file", func(t *testing.T) {
		failuretest.Produced(t, refused(t, ctx, with(func(c *Command) { c.Dir = file })), failure.CwdMissing)
	})
	t.Run("no shell", func(t *testing.T) {
		failuretest.Produced(t, refused(t, ctx, with(func(c *Command) { c.Shell = Shell{} })), failure.ShellMissing)
	})
	t.Run("a shell that is not there", func(t *testing.T) {
		failuretest.Produced(t, refused(t, ctx, with(func(c *Command) { c.Shell.Path = "/no/bash" })), failure.CouldNotStart)
	})
	t.Run("a shell that can't be run", func(t *testing.T) {
		failuretest.Produced(t, refused(t, ctx, with(func(c *Command) { c.Shell.Path = file })), failure.CouldNotStart)
	})
	t.Run("a shell that is not there, under a umask", func(t *testing.T) {
		umask := 0o022
		failuretest.Produced(t, refused(t, ctx, with(func(c *Command) { c.Umask, c.Shell.Path = &umask, "/no/bash" })), failure.CouldNotStart)
	})
	t.Run("a NUL in the environment", func(t *testing.T) {
		failuretest.Produced(t, refused(t, ctx, with(func(c *Command) { c.Env = []string{"A=\x00"} })), failure.CouldNotStart)
	})
	t.Run("Bash where there is none", func(t *testing.T) {
		failuretest.Produced(t, refused(t, ctx, with(func(c *Command) {
			c.Shell = Shell{Path: "/bin/sh", Args: []string{"-c"}}
			c.PlainPOSIX = func(string) bool { return false }
		})), failure.BashMissing)
	})
	t.Run("Bash where there is none and nobody to ask", func(t *testing.T) {
		failuretest.Produced(t, refused(t, ctx, with(func(c *Command) { c.Shell = Shell{Path: "/bin/sh", Args: []string{"-c"}} })), failure.BashMissing)
	})
	t.Run("cancelled before the start", func(t *testing.T) {
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		failuretest.Produced(t, refused(t, cancelled, good), failure.Cancelled)
	})
	t.Run("a deadline that has passed", func(t *testing.T) {
		failuretest.Produced(t, refused(t, ctx, with(func(c *Command) {
			c.Received = time.Now().Add(-time.Minute)
			c.Deadline = time.Now().Add(-time.Second)
		})), failure.ExpiredBeforeStart)
	})
	t.Run("a deadline that leaves time only to end", func(t *testing.T) {
		failuretest.Produced(t, refused(t, ctx, with(func(c *Command) {
			c.Received = time.Now().Add(-time.Hour)
			c.Deadline = time.Now().Add(time.Minute)
			c.Grace = 2 * time.Minute
		})), failure.ExpiredBeforeStart)
	})
	t.Run("a deadline that passed while the machine slept", func(t *testing.T) {
		failuretest.Produced(t, refused(t, ctx, with(func(c *Command) {
			// What the monotonic clock does not know, only a time without its reading can say.
			c.Received = time.Now().Add(-time.Minute)
			c.Deadline = time.Now().Add(-time.Second).Round(0)
		})), failure.ExpiredBeforeStart)
	})
}

// Needs real bash, which never starts.
func TestRunInAFolderThatCanNotBeEntered(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root can enter every folder")
	}
	c := command(t, `true`)
	if err := os.Chmod(c.Dir, 0o600); err != nil {
		t.Fatal(err)
	}
	f := failuretest.Produced(t, refused(t, context.Background(), c), failure.CouldNotStart)
	if f.Subject != c.Dir {
		t.Errorf("subject %q", f.Subject)
	}
}

func TestSubjectIsTheTextInShort(t *testing.T) {
	for text, want := range map[string]string{
		" ls ":                   "ls",
		"ls\nrm":                 "ls …",
		strings.Repeat("é", 500): strings.Repeat("é", 120) + "…",
	} {
		if got := about(&Command{Text: text}); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}
