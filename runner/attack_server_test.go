package runner

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/workspace"
	"brabo.dev/runner/workspace/git"
)

// TestAttackMessagesOfAServer runs a real shell. Each row says what a server tried, in the name of a person, and what
// stopped it; the daemon serves on afterwards, and nothing was made outside the project. BASE is the folder around it.
func TestAttackMessagesOfAServer(t *testing.T) {
	for _, c := range []struct {
		tried, event, payload, answer string
		stopped                       failure.Name
	}{
		{"a cwd outside", "exec", `{"ref":"a","command":"touch done","cwd":"BASE/other"`, "exec_result", failure.CwdOutside},
		{"a cwd that climbs out", "exec", `{"ref":"a","command":"touch done","cwd":"BASE/project/../other"`, "exec_result", failure.CwdInvalid},
		{"a cwd that begins like the root", "exec", `{"ref":"a","command":"touch done","cwd":"BASE/project-2"`, "exec_result", failure.CwdOutside},
		{"a cwd behind a link", "exec", `{"ref":"a","command":"touch done","cwd":"BASE/project/link"`, "exec_result", failure.CwdOutside},
		{"a relative cwd", "exec", `{"ref":"a","command":"touch done","cwd":"."`, "exec_result", failure.CwdNotAbsolute},
		{"a NUL that cuts the text short", "exec", `{"ref":"a","command":"touch done\u0000 x"`, "exec_result", failure.CommandNUL},
		{"code before the shell's first line", "exec", `{"ref":"a","command":"true","env":{"BASH_ENV":"BASE/code"}`, "exec_result", failure.EnvNotAllowed},
		{"a function in the place of a command", "exec", `{"ref":"a","command":"true","env":{"BASH_FUNC_true%%":"() { touch BASE/other/done; }"}`, "exec_result", failure.EnvNotAllowed},
		{"a library in every program", "exec", `{"ref":"a","command":"true","env":{"LD_PRELOAD":"BASE/code"}`, "exec_result", failure.EnvNotAllowed},
		{"another PATH", "exec", `{"ref":"a","command":"true","env":{"PATH":"BASE/other"}`, "exec_result", failure.EnvNotAllowed},
		{"a program for git", "exec", `{"ref":"a","command":"true","env":{"GIT_SSH_COMMAND":"touch BASE/other/done"}`, "exec_result", failure.EnvNotAllowed},
		{"an environment that is no list of texts", "exec", `{"ref":"a","command":"true","env":{"A":["x"]}`, "exec_result", failure.InvalidEnv},
		{"a text that no system can start", "exec", `{"ref":"a","command":"true #` + strings.Repeat("x", 3<<20) + `"`, "exec_result", failure.CommandTooLong},
		{"a deadline that never comes", "exec", `{"ref":"a","command":"touch done","deadlineMs":86400001`, "exec_result", failure.InvalidDeadline},
		{"a deadline of no time", "exec", `{"ref":"a","command":"touch done","deadlineMs":0`, "exec_result", failure.InvalidDeadline},
		{"a mirror that was not granted", "mirror_sync", `{"ref":"a","destino":"BASE/other"`, "mirror_sync_result", failure.MirrorNotGranted},
		{"a mirror into the keys of ssh", "mirror_sync", `{"ref":"a","destino":"BASE/.ssh"`, "mirror_sync_result", failure.MirrorNotAllowed},
		{"a file outside", "action", `{"ref":"a","type":"write_file","params":{"path":"../other/done","content":"x"}`, "action_result", failure.WritePathInvalid},
		{"a file at an absolute path", "action", `{"ref":"a","type":"write_file","params":{"path":"BASE/other/done","content":"x"}`, "action_result", failure.WritePathInvalid},
		{"a file behind a link", "action", `{"ref":"a","type":"write_file","params":{"path":"link/done","content":"x"}`, "action_result", failure.LinkInTheWay},
		{"a hook of git", "action", `{"ref":"a","type":"write_file","params":{"path":".git/hooks/pre-commit","content":"x"}`, "action_result", failure.WriteIntoGit},
		{"the same in another spelling", "action", `{"ref":"a","type":"write_file","params":{"path":"sub/.GIT/config","content":"x"}`, "action_result", failure.WriteIntoGit},
		{"git work elsewhere", "action", `{"ref":"a","type":"git_commit","params":{"message":"m","cwd":"BASE/other"}`, "action_result", failure.CwdOutside},
		{"a type that nobody knows", "action", `{"ref":"a","type":"run_as_root","params":{}`, "action_result", failure.UnknownActionType},
		{"a container of another project", "container_start", `{"ref":"a","spec":` + strings.Replace(spec("shop", "busybox:1"), `{`, `{"projectId":"q",`, 1), "container_start_result", failure.SpecInvalid},
		{"a container on the host's network", "container_start", `{"ref":"a","spec":` + strings.Replace(spec("shop", "busybox:1"), `"rede":"none"`, `"rede":"host"`, 1), "container_start_result", failure.SpecInvalid},
		{"a container whose name climbs out", "container_stop", `{"ref":"a","workspaceDirName":"../shop"`, "container_stop_result", failure.SpecInvalid},
		{"a look at the keys of ssh", "fs_list_dir", `{"ref":"a","path":"BASE/.ssh"`, "fs_list_dir_reply", failure.BrowseOutside},
	} {
		t.Run(c.tried, func(t *testing.T) {
			e := newEngine(t, action.Known()...)
			base := t.TempDir()
			e.mirror = filepath.Join(base, ".ssh")
			d := startDaemonIn(t, e, base, func(o *Options) {
				o.Git, o.Folder, o.Browse.Roots, o.Browse.Home = &git.Git{}, workspace.Options{Roots: []string{base}, Home: base}, []string{filepath.Join(base, "project")}, base
			})
			e.joined(t)
			other := filepath.Join(base, "other")
			if err := os.Mkdir(other, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(other, filepath.Join(d.root, "link")); err != nil {
				t.Fatal(err)
			}
			e.send(t, c.event, strings.ReplaceAll(c.payload, "BASE", base)+person+`}`)
			failuretest.Produced(t, e.answer(t, c.answer), c.stopped)
			e.exec(t, "after", "echo alive", person)
			if got := e.result(t); got.Ref != "after" || got.Output != "alive\n" {
				t.Errorf("%+v", got)
			}
			isEmpty(t, other)
			for _, path := range []string{filepath.Join(d.root, "done"), filepath.Join(base, ".ssh"), filepath.Join(base, "project-2")} {
				if _, err := os.Lstat(path); err == nil {
					t.Errorf("%s was made", path)
				}
			}
		})
	}
}

// isEmpty fails where something was made in the folder.
func isEmpty(t *testing.T, folder string) {
	t.Helper()
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		t.Errorf("made outside: %v, %v", entries, err)
	}
}

// What was approved once runs once, however often and in whatever order it comes. Runs a real shell.
func TestAttackServerThatRepeatsAltersAndReorders(t *testing.T) {
	e := newEngine(t, action.Known()...)
	d := startDaemon(t, e)
	e.joined(t)
	e.send(t, "exec_cancel", `{"ref":"a","reason":"before it came"}`)
	for range 3 {
		e.exec(t, "a", "echo run >>runs", person)
	}
	if got := e.result(t); got.ExitCode != 0 {
		t.Errorf("%+v", got)
	}
	e.exec(t, "a", "echo altered >>runs", person)
	for reused := false; !reused; {
		switch got := e.result(t); {
		case got.Failure != nil:
			failuretest.Produced(t, got.Failure, failure.RefReused)
			reused = true
		case got.Ref != "a" || got.ExitCode != 0:
			t.Fatalf("%+v", got)
		}
	}
	e.drop() // and again to the next connection
	e.joined(t)
	e.exec(t, "a", "echo run >>runs", `,"decision":{"kind":"policy","at":"2026-12-02T08:00:00Z"}`)
	if got := e.result(t); got.ExitCode != 0 {
		t.Errorf("%+v", got)
	}
	if runs, err := os.ReadFile(filepath.Join(d.root, "runs")); err != nil || string(runs) != "run\n" {
		t.Errorf("%q, %v", runs, err)
	}
}

// TestAttackActionOfEveryKindThatComesAgainAltered needs git: what came once under a ref is all that it ever stands for.
func TestAttackActionOfEveryKindThatComesAgainAltered(t *testing.T) {
	for name, c := range map[string]struct{ event, one, other string }{
		"a command":             {"exec", `"command":"echo one >done"`, `"command":"echo two >done"`},
		"a command elsewhere":   {"exec", `"command":"echo one >done"`, `"command":"echo one >done","cwd":"BASE/project"`},
		"a file":                {"action", `"type":"write_file","params":{"path":"done","content":"one\n"}`, `"type":"write_file","params":{"path":"done","content":"two\n"}`},
		"a file for a push":     {"action", `"type":"write_file","params":{"path":"done","content":"one\n"}`, `"type":"git_push","params":{"branch":"main"}`},
		"a container":           {"container_start", `"spec":` + spec("shop", "busybox:1"), `"spec":` + spec("shop", "evil:1")},
		"a container's end":     {"container_stop", `"workspaceDirName":"shop"`, `"workspaceDirName":"bank"`},
		"a container's removal": {"container_remove", `"workspaceDirName":"shop"`, `"workspaceDirName":"bank"`},
		"a mirror":              {"mirror_sync", `"destino":"BASE/copy"`, `"destino":"BASE/other"`},
		"a folder":              {"workspace_create", `"destino":"BASE/made"`, `"destino":"BASE/other"`},
	} {
		t.Run(name, func(t *testing.T) {
			e, base := newEngine(t, action.Known()...), t.TempDir()
			e.mirror = filepath.Join(base, "copy")
			d := startDaemonIn(t, e, base, func(o *Options) { o.Git = &git.Git{} })
			e.joined(t)
			send := func(payload string) {
				t.Helper()
				e.send(t, c.event, `{"ref":"a",`+strings.ReplaceAll(payload, "BASE", base)+person+`}`)
			}
			send(c.one)
			if f := e.answer(t, c.event+"_result"); f != nil && f.Name == failure.RefReused {
				t.Fatal(f)
			}
			send(c.one)
			send(c.other)
			for { // the first answer may come once more
				if f := e.answer(t, c.event+"_result"); f != nil && f.Name == failure.RefReused {
					break
				}
			}
			if text, err := os.ReadFile(filepath.Join(d.root, "done")); err == nil && string(text) != "one\n" {
				t.Errorf("it was done as %q", text)
			}
			if _, err := os.Stat(filepath.Join(base, "other")); err == nil {
				t.Error("the other was made")
			}
		})
	}
}

// A message beyond the limit ends its connection, and no more: the daemon comes back. Runs a real shell.
func TestAttackMessageThatIsHuge(t *testing.T) {
	e := newEngine(t, action.Known()...)
	startDaemon(t, e, func(o *Options) { o.Dialer = &channel.Dialer{ReadLimit: 64 << 10} })
	e.joined(t)
	e.exec(t, "a", "true #"+strings.Repeat("x", 100<<10), person)
	e.joined(t)
	e.exec(t, "b", "echo alive", person)
	if got := e.result(t); got.Ref != "b" || got.Output != "alive\n" {
		t.Errorf("%+v", got)
	}
}

// A ref is the server's own word: it names no file, and ends no line of a log. Runs a real shell.
func TestAttackRefThatIsAPathOrALine(t *testing.T) {
	e := newEngine(t, action.Known()...)
	folder := t.TempDir()
	d := startDaemon(t, e, func(o *Options) {
		o.Commands.SpoolDir, o.Commands.SpoolLimit, o.Commands.SpoolTotal, o.Commands.ResultLimit = filepath.Join(folder, "output"), 1<<20, 1<<30, 1024
	})
	e.joined(t)
	const ref = "../../evil\n{\"level\":\"ERROR\"}\x1b[2J\u202e"
	quoted, _ := json.Marshal(ref)
	e.send(t, "exec", `{"ref":`+string(quoted)+`,"command":"seq 1000"`+person+`}`)
	if got := e.result(t); got.Ref != ref || got.ExitCode != 0 {
		t.Errorf("%+v", got)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	for line := range strings.Lines(d.log.String()) {
		if !json.Valid([]byte(line)) || strings.HasPrefix(line, `{"level"`) || strings.ContainsRune(line, 0x1b) {
			t.Errorf("%q", line)
		}
	}
}

// TestAttackRootThatIsTheHome has a server name the home folder as a project's.
func TestAttackRootThatIsTheHome(t *testing.T) {
	e := newEngine(t)
	base := t.TempDir()
	d := startDaemonIn(t, e, base, func(o *Options) {
		o.Folder = workspace.Options{Roots: []string{base}, Home: filepath.Join(base, "project")}
	})
	failuretest.Produced(t, d.wait(t), failure.HomeAsRoot)
	if len(e.topics()) > 0 {
		t.Error("it was joined")
	}
}

// A rule judges the command, not the files that it reads; and without confinement a command is the user. SECURITY.md says
// so. Runs a real shell.
func TestNotDefendedAllowedCommandRunsWhatTheProjectHolds(t *testing.T) {
	e := newEngine(t, action.Known()...)
	d := startDaemon(t, e)
	e.joined(t)
	outside := filepath.Join(t.TempDir(), "made by the test of the project")
	if err := os.WriteFile(filepath.Join(d.root, "test.sh"), []byte("touch '"+outside+"'"), 0o600); err != nil {
		t.Fatal(err)
	}
	e.exec(t, "a", "sh test.sh", person)
	if got := e.result(t); got.ExitCode != 0 {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}
