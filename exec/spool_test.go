//go:build unix

package exec

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// spooling is command with a spool of at most limit bytes, in a folder that is still to be made.
func spooling(t *testing.T, text string, limit int64) Command {
	c := command(t, text)
	c.ResultLimit = 1024
	c.SpoolDir, c.SpoolName, c.SpoolLimit = filepath.Join(c.Dir, "state", "spool"), "action", limit
	return c
}

// Runs real bash.
func TestSpoolHoldsWhatTheResultDoesNot(t *testing.T) {
	for name, tc := range map[string]struct {
		text  string
		limit int64
		want  string // "": no file
	}{
		"everything":              {`seq 1000`, 1 << 20, seq(1000)},
		"up to its limit":         {`seq 100000`, 10000, seq(100000)[:10000]},
		"less than the result":    {`seq 1000`, 100, seq(1000)[:100]},
		"bytes as they came":      {`printf '\377%.0s' {1..600}`, 1 << 20, strings.Repeat("\xff", 600)},
		"nothing where all fits":  {`seq 100`, 1 << 20, ""},
		"nothing without a limit": {`seq 1000`, 0, ""},
		"nothing of silence":      {`true`, 1 << 20, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := spooling(t, tc.text, tc.limit)
			res := Run(context.Background(), c)
			if res.SpoolFailure != nil || res.Failure != nil {
				t.Fatal(res.SpoolFailure, res.Failure)
			}
			if tc.want == "" {
				if _, err := os.Stat(c.SpoolDir); res.Spool != "" || err == nil {
					t.Errorf("spool %q, folder: %v", res.Spool, err)
				}
				return
			}
			got, err := os.ReadFile(res.Spool)
			if err != nil || string(got) != tc.want {
				t.Errorf("%d bytes, want %d; %v", len(got), len(tc.want), err)
			}
			for path, mode := range map[string]os.FileMode{res.Spool: 0o600, c.SpoolDir: 0o700} {
				if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
					t.Errorf("%s: %v, %v", path, info.Mode(), err)
				}
			}
		})
	}
}

// seq is what the program of that name prints.
func seq(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, i+1)
	}
	return b.String()
}

// Runs real bash.
func TestSpoolThatFailsLeavesTheResultGood(t *testing.T) {
	for name, change := range map[string]func(*Command){
		"a file in the way of the folder": func(c *Command) { c.SpoolDir = "/dev/null/spool" },
		"a folder in the file's place":    func(c *Command) { c.SpoolDir, c.SpoolName = filepath.Dir(c.Dir), filepath.Base(c.Dir) },
		"a name that leads out":           func(c *Command) { c.SpoolName = "../action" },
		"a name with folders":             func(c *Command) { c.SpoolName = "a/b" },
		"no name":                         func(c *Command) { c.SpoolName = "" },
		"the folder itself":               func(c *Command) { c.SpoolName = "." },
		"a link that leads out": func(c *Command) {
			c.SpoolDir = c.Dir
			_ = os.Symlink("/dev/full", filepath.Join(c.Dir, "action"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := spooling(t, `seq 1000; exit 3`, 1<<20)
			change(&c)
			res := Run(context.Background(), c)
			failuretest.Produced(t, res.SpoolFailure, failure.SpoolFailed)
			if res.ExitCode != 3 || !res.Truncated || res.Spool != "" || res.Failure != nil || !strings.HasSuffix(res.Output, "999\n1000\n") {
				t.Errorf("%+v", res)
			}
		})
	}
}

// Runs real bash.
func TestSpoolInAFolderThatCanNotBeWritten(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root can write into every folder")
	}
	c := spooling(t, `seq 1000`, 1<<20)
	c.SpoolDir = t.TempDir()
	if err := os.Chmod(c.SpoolDir, 0o500); err != nil {
		t.Fatal(err)
	}
	res := Run(context.Background(), c)
	failuretest.Produced(t, res.SpoolFailure, failure.SpoolFailed)
	if res.ExitCode != 0 || !res.Truncated {
		t.Errorf("%+v", res)
	}
}

// Runs real bash.
func TestSpoolOfASecondRunReplacesTheFirst(t *testing.T) {
	c := spooling(t, `seq 2000`, 1<<20)
	Run(context.Background(), c)
	c.Text = `seq 1000`
	res := Run(context.Background(), c)
	if got, err := os.ReadFile(res.Spool); err != nil || string(got) != seq(1000) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
