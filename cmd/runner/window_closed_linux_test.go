package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"brabo.dev/runner/runner/hub"
)

// shellWindow is a terminal with a shell in it, which a person closes.
type shellWindow struct {
	cmd    *exec.Cmd
	master *os.File
	seen   chan error // the end of what is shown
}

// openShell starts an interactive bash, which is the leader of the session of a pseudo terminal.
func openShell(t *testing.T, home string) *shellWindow {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash: ", err)
	}
	cmd := exec.Command(bash, "--norc", "--noprofile", "-i")
	cmd.Dir = home
	cmd.Env = []string{asCommand + "=1", "HOME=" + home, "PATH=" + os.Getenv("PATH"), "BRABO_ACCOUNT_TOKEN=" + testToken, "RUNNER_DRAIN_GRACE=1m"}
	opened, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	master := interruptible(t, opened)
	w := &shellWindow{cmd, master, make(chan error, 1)}
	go func() {
		_, err := io.Copy(io.Discard, master)
		w.seen <- err
	}()
	t.Cleanup(func() {
		_ = master.Close() // it may be closed already
		<-w.seen
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return w
}

// interruptible is f, which it closes, in a form whose Close ends a Read that is under way.
func interruptible(t *testing.T, f *os.File) *os.File {
	t.Helper()
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), f.Name())
}

// runs has the shell run a program in the foreground, and gives its process id.
func (w *shellWindow) runs(t *testing.T, home, program string, args ...string) int {
	t.Helper()
	words := append([]string{"exec", program}, args...)
	for i, word := range words[1:] {
		words[i+1] = "'" + word + "'"
	}
	script := "echo $$ >pid; " + strings.Join(words, " ") + "\n"
	if err := os.WriteFile(filepath.Join(home, "start"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.master.WriteString("sh start\r"); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(awaitFile(t, filepath.Join(home, "pid")), &pid); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) }) // it may have ended by itself
	return pid
}

// close does what the closing of the window does, and waits for the shell's end.
func (w *shellWindow) close(t *testing.T) {
	t.Helper()
	if err := w.master.Close(); err != nil {
		t.Fatal(err)
	}
	var ended *exec.ExitError
	if err := w.cmd.Wait(); err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
}

func awaitGone(t *testing.T, pid int) {
	t.Helper()
	awaitTrue(t, "the process ends", func() bool {
		up, _ := alive(pid)
		return !up || zombie(pid)
	})
}

// loggedOf is the log file of the only daemon in home, or what there is of it.
func loggedOf(home string) string {
	files, _ := filepath.Glob(filepath.Join(home, ".local/state/runner/projects/*/log/runner.log"))
	if len(files) != 1 {
		return ""
	}
	text, _ := os.ReadFile(files[0])
	return string(text)
}

const untilGo = "touch started; while [ ! -e go ]; do sleep 0.01; done; echo finished"

// TestDaemonInAClosedWindowStopsInOrder closes the window of a shell in which a daemon runs a command: the shell tells the
// daemon, and so does the kernel when the shell has ended, and nothing can be written to the terminal any more.
func TestDaemonInAClosedWindowStopsInOrder(t *testing.T) {
	home := inHome(t)
	h, url, root, _ := startHub(t, home)
	w := openShell(t, home)
	pid := w.runs(t, home, os.Args[0], "run", "--project", "p", "--dir", root, "--api-url", url)
	awaitRunner(t, h)
	id := proposeText(t, h, untilGo)
	awaitFileExists(t, filepath.Join(root, "started"))
	w.close(t)
	awaitTrue(t, "the daemon stops", func() bool { return strings.Contains(loggedOf(home), `"msg":"stopping`) })
	letGo(t, root, nil)
	awaitGone(t, pid)
	if a := awaitAction(t, h, id); a.Status != hub.Executed || a.Outcome.Output != "finished\n" {
		t.Errorf("%s: %+v", a.Status, a.Outcome)
	}
	if text := loggedOf(home); !strings.Contains(text, "all actions were finished and their results delivered") {
		t.Errorf("its log ends so:\n%s", text)
	}
}

// TestDaemonUnderNohupOutlivesItsWindow needs nohup, of coreutils.
func TestDaemonUnderNohupOutlivesItsWindow(t *testing.T) {
	nohup, err := exec.LookPath("nohup")
	if err != nil {
		t.Skip("needs nohup: ", err)
	}
	home := inHome(t)
	h, url, root, _ := startHub(t, home)
	w := openShell(t, home)
	pid := w.runs(t, home, nohup, os.Args[0], "run", "--project", "p", "--dir", root, "--api-url", url)
	awaitRunner(t, h)
	id := proposeText(t, h, untilGo)
	awaitFileExists(t, filepath.Join(root, "started"))
	w.close(t)
	letGo(t, root, nil)
	for _, id := range []string{id, proposeText(t, h, "echo finished")} {
		if a := awaitAction(t, h, id); a.Status != hub.Executed || a.Outcome.Output != "finished\n" {
			t.Errorf("%s: %+v", a.Status, a.Outcome)
		}
	}
	if text := loggedOf(home); strings.Contains(text, `"msg":"stopping`) {
		t.Errorf("it stopped:\n%s", text)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, pid)
}

// TestDaemonWhoseLogIsPipedToAProgramThatEndsStopsInOrder is what Ctrl-C does to `runner run 2>&1 | tee log`.
func TestDaemonWhoseLogIsPipedToAProgramThatEndsStopsInOrder(t *testing.T) {
	home := inHome(t)
	h, url, root, _ := startHub(t, home)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	p := startProcess(t, home, root, url, grace("1m"), func(cmd *exec.Cmd) { cmd.Stdout, cmd.Stderr = write, write })
	awaitRunner(t, h)
	id := proposeText(t, h, untilGo)
	awaitFileExists(t, filepath.Join(root, "started"))
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
	p.signal(t, syscall.SIGINT)
	awaitTrue(t, "the daemon stops", func() bool { return strings.Contains(loggedOf(home), `"msg":"stopping`) })
	letGo(t, root, nil)
	p.wait(t, exitOK)
	if a := awaitAction(t, h, id); a.Status != hub.Executed || a.Outcome.Output != "finished\n" {
		t.Errorf("%s: %+v", a.Status, a.Outcome)
	}
}

func TestHubWhoseWindowIsGoneBeforeItGreetsGoesOn(t *testing.T) {
	h, url, _, _ := startHub(t, inHome(t))
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	if err := errors.Join(read.Close(), greet(write, h, url)); err != nil {
		t.Error(err)
	}
}

// TestHubInAClosedWindowStopsInOrder has the hub lead the session of its terminal, as a window that was opened for it does.
func TestHubInAClosedWindowStopsInOrder(t *testing.T) {
	home := inHome(t)
	cmd := exec.Command(os.Args[0], "hub")
	cmd.Env = []string{asCommand + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + home, "RUNNER_HUB_LISTEN=127.0.0.1:0"}
	master, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd}
	t.Cleanup(p.kill)
	address := filepath.Join(home, ".local/share/runner/hub", hubAddressFile)
	awaitFile(t, address)
	if err := master.Close(); err != nil {
		t.Fatal(err)
	}
	p.wait(t, exitOK)
	if _, err := os.Stat(address); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it left its address: %v", err)
	}
}
