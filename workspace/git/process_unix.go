//go:build unix

package git

import (
	"io/fs"
	"os"
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

// openPlain opens a file to read, and never waits for the other end of a pipe.
func openPlain(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
}
