//go:build unix

package git

import (
	"io/fs"
	"os/exec"
	"syscall"
)

var programEndings = []string{""}

func runnable(info fs.FileInfo) bool { return info.Mode()&0o111 != 0 }

// ownGroup puts the program into a group of its own, and has its end end the whole of it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
