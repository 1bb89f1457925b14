package containerctl

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func testExec(t *testing.T, b *bed) {
	_, c, root := b.up(t)
	if err := os.Mkdir(filepath.Join(root, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		c    ExecCommand
		code int
		out  string
	}{
		{"success", ExecCommand{Text: "true"}, 0, ""},
		{"exit code", ExecCommand{Text: "exit 42"}, 42, ""},
		{"a killed shell has the shell's code", ExecCommand{Text: "kill -9 $$"}, 137, ""},
		{"both outputs keep their order", ExecCommand{Text: "for i in 1 2 3; do echo o$i; echo e$i >&2; done"}, 0, "o1\ne1\no2\ne2\no3\ne3\n"},
		{"the folder is the mount", ExecCommand{Text: "pwd"}, 0, "/work\n"},
		{"a folder below", ExecCommand{Text: "pwd", Cwd: Translate(root, root+"/sub")}, 0, "/work/sub\n"},
		{"a folder by its host path", ExecCommand{Text: "cd '" + root + "/sub' && test -d '" + root + "' && /bin/pwd -P"}, 0, "/work/sub\n"},
		{"environment", ExecCommand{Text: "echo $A-$B", Env: []string{"A=1 2", "B=x"}}, 0, "1 2-x\n"},
		{"standard input is empty", ExecCommand{Text: "cat; echo end"}, 0, "end\n"},
		{"umask", ExecCommand{Text: "umask", Umask: "027"}, 0, "0027\n"},
		{"no core files", ExecCommand{Text: "ulimit -c"}, 0, "0\n"},
		{"syntax error", ExecCommand{Text: "if"}, 2, "/bin/sh: syntax error: unexpected end of file (expecting \"then\")\n"},
		{"missing program", ExecCommand{Text: "nosuchprogram"}, 127, "/bin/sh: nosuchprogram: not found\n"},
		{"quotes and lines stay as they are", ExecCommand{Text: "echo \"a  'b'\"\necho \\$HOME"}, 0, "a  'b'\n$HOME\n"},
		{"arguments are empty", ExecCommand{Text: "echo $# [$1]"}, 0, "0 []\n"},
		{"its own mark in the text is no report", ExecCommand{Text: "echo x begin >&2"}, 0, "x begin\n"},
		{"longest text", ExecCommand{Text: "true " + strings.Repeat("x", maxText-5)}, 0, ""},
		{"invalid bytes pass", ExecCommand{Text: `printf '\377\000\376'`}, 0, "\xff\x00\xfe"},
		{"TERM at itself", ExecCommand{Text: "kill $$; sleep 60"}, 143, ""},
	} {
		both(t, tc.name, func(t *testing.T, own bool) {
			var out bytes.Buffer
			tc.c.Container, tc.c.Output, tc.c.ownExec = c.ID, &out, own
			r, err := b.Exec(t.Context(), tc.c)
			if err != nil || r.ExitCode != tc.code || out.String() != tc.out || r.Left != 0 {
				t.Errorf("got %+v, %v, %q; want %d, %q", r, err, out.String(), tc.code, tc.out)
			}
		})
	}
	t.Run("much output", func(t *testing.T) {
		sum, n := sha256.New(), 0
		w := writerFunc(func(p []byte) (int, error) { n += len(p); return sum.Write(p) })
		if _, err := b.Exec(t.Context(), ExecCommand{Container: c.ID, Text: "yes 0123456789abcde | head -c 10485760", Output: w}); err != nil {
			t.Fatal(err)
		}
		want := sha256.Sum256(bytes.Repeat([]byte("0123456789abcde\n"), 10<<20/16))
		if n != 10<<20 || !bytes.Equal(sum.Sum(nil), want[:]) {
			t.Errorf("%d bytes came, or others than were written", n)
		}
	})
	t.Run("an output that fails does not hold the command", func(t *testing.T) {
		w := writerFunc(func([]byte) (int, error) { return 0, os.ErrClosed })
		r, err := b.Exec(t.Context(), ExecCommand{Container: c.ID, Text: "yes | head -c 1000000; exit 5", Output: w})
		if err != nil || r.ExitCode != 5 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// both runs a test of a command with a worker and with an exec of its own.
func both(t *testing.T, name string, test func(t *testing.T, ownExec bool)) {
	t.Run(name, func(t *testing.T) { test(t, false) })
	t.Run(name+", by an exec of its own", func(t *testing.T) { test(t, true) })
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func testExecRefusals(t *testing.T, b *bed) {
	_, c, _ := b.up(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tc := range []struct {
		name string
		ctx  context.Context
		c    ExecCommand
		want func(error)
	}{
		{"empty", t.Context(), ExecCommand{Text: " \n"}, func(err error) { failuretest.Produced(t, err, failure.CommandEmpty) }},
		{"NUL", t.Context(), ExecCommand{Text: "a\x00b"}, func(err error) { failuretest.Produced(t, err, failure.CommandNUL) }},
		{"too long", t.Context(), ExecCommand{Text: strings.Repeat("x", maxText+1)}, func(err error) { failuretest.Produced(t, err, failure.CommandTooLong) }},
		{"expired", t.Context(), ExecCommand{Text: "touch ran", Deadline: time.Now().Add(-time.Second)}, func(err error) { failuretest.Produced(t, err, failure.ExpiredBeforeStart) }},
		{"cancelled before", gone, ExecCommand{Text: "touch ran"}, func(err error) { failuretest.Produced(t, err, failure.Cancelled) }},
		{"no such folder", t.Context(), ExecCommand{Text: "touch /work/ran", Cwd: "/work/nope"}, func(err error) { failuretest.Produced(t, err, failure.CwdMissing) }},
		{"bash is demanded", t.Context(), ExecCommand{Text: "touch ran", Shell: ShellBashOrFail}, func(err error) { failuretest.Produced(t, err, failure.BashMissing) }},
		{"environment too long", t.Context(), ExecCommand{Text: "touch ran", Env: []string{"A=" + strings.Repeat("x", 200_000)}}, func(err error) { failuretest.Produced(t, err, failure.CommandTooLong) }},
	} {
		both(t, tc.name, func(t *testing.T, own bool) {
			var out bytes.Buffer
			tc.c.Container, tc.c.Output, tc.c.ownExec = c.ID, &out, own
			r, err := b.Exec(tc.ctx, tc.c)
			tc.want(err)
			if r.ExitCode != -1 || out.Len() > 0 {
				t.Errorf("%+v, output %q", r, out.String())
			}
		})
	}
	if _, out := b.run(t, c.ID, "ls"); out != "" {
		t.Errorf("something ran: %s", out)
	}
}

func testBash(t *testing.T, b *bed) {
	s := b.spec(t)
	_, plain, _ := b.up(t)
	r, err := b.Exec(t.Context(), ExecCommand{Container: plain.ID, Text: "exit 4", Shell: ShellBashOrSh})
	if err != nil || r.ExitCode != 4 || !strings.Contains(r.Note, "no bash") {
		t.Errorf("where bash is missing: %+v, %v", r, err)
	}
	// What is called bash here only has to be another program than sh.
	s.Image = b.importImage(t, imageTar(t, map[string]string{"usr/bin/bash": "#!/bin/sh\necho bash \"$@\"\n"}), nil)
	c, err := b.Start(t.Context(), s, StartOptions{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for choice, want := range map[ShellChoice]string{"": "text\n", ShellPOSIX: "text\n", ShellBashOrSh: "bash -c echo text\n", ShellBashOrFail: "bash -c echo text\n"} {
		var out bytes.Buffer
		r, err := b.Exec(t.Context(), ExecCommand{Container: c.ID, Text: "echo text", Shell: choice, Output: &out})
		if err != nil || out.String() != want || r.Note != "" {
			t.Errorf("%q: %+v, %v, %q", choice, r, err, out.String())
		}
	}
}

func testUnusable(t *testing.T, b *bed) {
	for _, missing := range []string{"bin/sh", "bin/sleep"} {
		s := b.spec(t)
		s.Image = b.importImage(t, imageTar(t, map[string]string{missing: absent}), nil)
		_, err := b.Start(t.Context(), s, StartOptions{Root: t.TempDir()})
		failuretest.Produced(t, err, failure.ImageUnusable)
		if st, err := b.Inspect(t.Context(), s.WorkspaceDirName); err != nil || st.Exists {
			t.Errorf("the container that could not start stayed: %+v, %v", st, err)
		}
	}
	s := b.spec(t)
	c, err := b.Start(t.Context(), s, StartOptions{Root: t.TempDir(), User: imageUser})
	if err != nil {
		t.Fatal(err)
	}
	b.must(t, c.ID, "", "rm /bin/sh")
	_, err = b.Exec(t.Context(), ExecCommand{Container: c.ID, Text: "true"})
	failuretest.Produced(t, err, failure.ImageUnusable)
}

// testWorktree is the engine's own git work, whose text carries absolute host paths.
func testWorktree(t *testing.T, b *bed) {
	_, c, root := b.up(t)
	if _, err := os.Stat("/usr/bin/git"); err != nil {
		need(t, false, "git on this machine, to put it into the image")
	}
	b.must(t, c.ID, "", "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first")
	for i, cwd := range []string{"", Translate(root, root)} {
		dir := fmt.Sprintf("%s/.worktrees/agent%d", root, i)
		b.must(t, c.ID, cwd, "mkdir -p '"+root+"/.worktrees' && git worktree add -q -b b"+fmt.Sprint(i)+" '"+dir+"'")
		b.must(t, c.ID, cwd, "test -d '"+dir+"' && test -f '"+dir+"/.git'")
		b.must(t, c.ID, Translate(root, dir), "git status --porcelain")
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("it is not there outside: %v", err)
		}
	}
}

// must runs a command that has to succeed.
func (b *bed) must(t *testing.T, container, cwd, text string) string {
	t.Helper()
	var out bytes.Buffer
	r, err := b.Exec(t.Context(), ExecCommand{Container: container, Cwd: cwd, Text: text, Output: &out})
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("%s: %+v, %v\n%s", text, r, err, out.String())
	}
	return out.String()
}
