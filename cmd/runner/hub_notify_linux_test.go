package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// TestHubTellsTheServiceManagerHowItStands starts `runner hub` under a socket like systemd's.
func TestHubTellsTheServiceManagerHowItStands(t *testing.T) {
	manager, notified := listenAsSystemd(t, "200000")
	home := t.TempDir()
	hub := exec.CommandContext(t.Context(), os.Args[0], "hub")
	hub.Env = []string{asCommand + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + home, "RUNNER_HUB_LISTEN=127.0.0.1:0",
		"XDG_DATA_HOME=" + filepath.Join(home, "data"), "XDG_CONFIG_HOME=" + filepath.Join(home, "config"), "XDG_STATE_HOME=" + filepath.Join(home, "state")}
	notified(hub)
	if err := hub.Start(); err != nil {
		t.Fatal(err)
	}
	manager.hear(t, "READY=1")
	if _, err := os.Stat(filepath.Join(home, "data", "runner", "hub", hubAddressFile)); err != nil {
		t.Errorf("ready, and nobody can find it: %v", err)
	}
	manager.heard(t, "STATUS=listening at http://127.0.0.1:")
	manager.hear(t, "WATCHDOG=1")
	if err := hub.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	manager.hear(t, "STOPPING=1")
	if err := hub.Wait(); err != nil {
		t.Error(err)
	}
}
