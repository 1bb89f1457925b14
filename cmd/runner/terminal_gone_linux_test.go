package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hubAndDaemon starts `runner hub` and `runner run` as processes of their own, paired, with the project Shop in the folder
// shop of the home.
func hubAndDaemon(t *testing.T, home string, hubSays *os.File) (hub *exec.Cmd, daemon *process) {
	t.Helper()
	hub = exec.Command(os.Args[0], "hub")
	hub.Env = []string{asCommand + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + home, "RUNNER_HUB_LISTEN=127.0.0.1:0"}
	if hubSays != nil {
		hub.Stderr = hubSays
	}
	if err := hub.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = hub.Process.Kill() // it may have ended by itself
		_ = hub.Wait()
	})
	pairHere(t) // and waits for the hub
	root := filepath.Join(home, "shop")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	wants(t, home, 0, "Shop", "project", "add", root, "--name", "Shop")
	daemon = startProcess(t, home, "", "", func(cmd *exec.Cmd) {
		cmd.Args, cmd.Dir = []string{os.Args[0], "run"}, home
		cmd.Env = append(cmd.Env, "BRABO_ACCOUNT_TOKEN=")
	})
	awaitTrue(t, "a daemon serves the project", func() bool {
		out, _ := command(t, home, "project", "list")
		return strings.Contains(out, "served")
	})
	return hub, daemon
}

// TestTerminalWhoseHubGoesAway has `runner hub` as a process of its own, which stops in order or is killed. It needs bash.
func TestTerminalWhoseHubGoesAway(t *testing.T) {
	for name, sig := range map[string]os.Signal{"stopped": syscall.SIGTERM, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			home := inHome(t)
			hub, daemon := hubAndDaemon(t, home, nil)
			w := openWindow(t, home, "", func(env []string) []string {
				return append(env, hubURLVariable+"=", agentTokenVariable+"=") // the owner's own hub is found
			})
			w.types(t, "unset HISTFILE; echo $((6*7)):\r")
			w.sees(t, "42:", nil)
			if err := hub.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			// A hub that stops in order may send its runner away before it closes the window, and says so then.
			if code := w.ends(t); code != exitFail {
				t.Errorf("exit %d:\n%s", code, w.text())
			}
			said := func() bool {
				return strings.Contains(w.text(), "hub_unreachable") || name == "stopped" && strings.Contains(w.text(), "draining")
			}
			for deadline := time.Now().Add(time.Minute); !said(); time.Sleep(5 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("it said:\n%s", w.text())
				}
			}
			if err := daemon.cmd.Process.Signal(syscall.SIGTERM); err != nil { // it ends the terminal's shell, and waits for it
				t.Fatal(err)
			}
			_ = daemon.cmd.Wait()
		})
	}
}
