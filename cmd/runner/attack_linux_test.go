package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/hub"
)

// A command is a process of the same user, and looks for the daemon's token where that has it. Runs a real daemon.
func TestAttackCommandThatLooksIntoTheDaemon(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root sees the memory of all processes")
	}
	home := inHome(t)
	h, url, root, _ := startHub(t, home)
	p := startProcess(t, home, root, url)
	awaitRunner(t, h)
	for name, command := range map[string]string{
		"its environment": `cat /proc/%d/environ`, "its memory": `exec 3</proc/%d/mem`, "its open files": `ls /proc/%d/fd/`,
		"what it runs": `readlink -e /proc/%d/exe`,
	} {
		a := awaitAction(t, h, proposeText(t, h, fmt.Sprintf(command, p.cmd.Process.Pid)))
		if a.Outcome == nil || a.Outcome.ExitCode == nil || *a.Outcome.ExitCode == 0 {
			t.Errorf("%s: %s: %+v", name, a.Status, a.Outcome)
		}
	}
	a := awaitAction(t, h, proposeText(t, h, `env; ulimit -c; tr '\0' ' ' </proc/`+fmt.Sprint(p.cmd.Process.Pid)+`/cmdline`))
	if a.Status != hub.Executed || strings.Contains(a.Outcome.Output, testToken) || !strings.Contains(a.Outcome.Output, "\n0\n") {
		t.Errorf("%s: %+v", a.Status, a.Outcome)
	}
	if strings.Contains(a.Outcome.Output, "BRABO_ACCOUNT_TOKEN") { // the token itself would have been taken out
		t.Errorf("the daemon's token is inherited: %s", a.Outcome.Output)
	}
}

// The two users of TestRootAttackOfALocalUser.
const (
	ownerUID    = 54321
	strangerUID = 54322
)

// TestRootAttackOfALocalUser has a daemon run as one user and its secrets looked for by another, who may look at /proc and
// go into every folder that lets him. Needs root, to be two users.
func TestRootAttackOfALocalUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("being two users needs root")
	}
	home, err := os.MkdirTemp("/tmp", "runner-home-") // which both users may enter, unlike the test's own folder
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	binary := filepath.Join(home, "runner")
	if raw, err := os.ReadFile(os.Args[0]); err != nil || os.WriteFile(binary, raw, 0o755) != nil {
		t.Fatal(err)
	}
	h, url, root, jwk := startHub(t, home)
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "brabo-runner-device-key.jwk.json"), []byte(jwk), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{home, root, filepath.Join(root, "brabo-runner-device-key.jwk.json")} {
		if err := os.Chown(path, ownerUID, ownerUID); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(home, 0o755); err != nil { // a home as most systems make it
		t.Fatal(err)
	}
	allowCores(t)
	p := startProcess(t, home, root, url, func(cmd *exec.Cmd) {
		cmd.Path, cmd.Args[0], cmd.Dir = binary, binary, root
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ownerUID, Gid: ownerUID}}
	})
	awaitRunner(t, h)
	a := awaitAction(t, h, proposeText(t, h, "umask; id -u; seq 100000 && echo a secret of the project"))
	if a.Status != hub.Executed || !strings.Contains(a.Outcome.Output, fmt.Sprint(ownerUID)) {
		t.Fatalf("%s: %+v", a.Status, a.Outcome)
	}
	state := stateOf(home)
	folders := control.Folders(state) // the last one is the project's
	if len(folders) == 0 {
		t.Fatal("the daemon has no folder")
	}
	folder := folders[len(folders)-1]
	for _, path := range []string{"journal.db", "log/runner.log", "control.sock"} {
		if _, err := os.Stat(filepath.Join(folder, path)); err != nil {
			t.Error(err) // it would be refused to the stranger all the same
		}
	}
	stranger := func(script string) (string, error) {
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.Env, cmd.Dir = []string{"PATH=" + os.Getenv("PATH")}, "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: strangerUID, Gid: strangerUID}}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	pid := fmt.Sprint(p.cmd.Process.Pid)
	for tried, script := range map[string]string{
		"the environment": "cat /proc/" + pid + "/environ", "the memory": "cat /proc/" + pid + "/mem", "the open files": "ls /proc/" + pid + "/fd/",
		"the state": "ls " + state, "the journal, by its name": "cat " + filepath.Join(folder, "journal.db"),
		"the log, by its name": "cat " + filepath.Join(folder, "log", "runner.log"), "the outputs": "ls " + filepath.Join(state, "output"),
		"the device key": "cat " + filepath.Join(root, "brabo-runner-device-key.jwk.json"),
		"a signal":       "kill -TERM " + pid,
	} {
		if out, err := stranger(script); err == nil {
			t.Errorf("%s: %.200s", tried, out)
		}
	}
	if out, err := stranger("tr '\\0' '\\n' </proc/" + pid + "/cmdline"); err != nil || strings.Contains(out, testToken) || !strings.Contains(out, "run\n") {
		t.Errorf("argv: %q, %v", out, err)
	}
	asks := exec.Command(binary)
	asks.Env = []string{asAsker + "=" + folder, "HOME=/", "PATH=" + os.Getenv("PATH")}
	asks.Dir = "/"
	asks.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: strangerUID, Gid: strangerUID}}
	if out, _ := asks.CombinedOutput(); !strings.Contains(string(out), "permission denied") {
		t.Errorf("the socket answers: %s", out)
	}
	ownFilesAreClosed(t, state)
	if limits, err := os.ReadFile("/proc/" + pid + "/limits"); err != nil || !strings.Contains(string(limits), "Max core file size        0 ") {
		t.Errorf("core files: %s, %v", limits, err)
	}
}

// allowCores lets what this process starts write core files, for as long as the test runs, wherever it was begun.
func allowCores(t *testing.T) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CORE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{Cur: 1 << 20, Max: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_CORE, &before) })
}

// ownFilesAreClosed fails for every file and folder below dir that others than its owner may do anything with.
func ownFilesAreClosed(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		files++
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("%d files, %v", files, err)
	}
}
