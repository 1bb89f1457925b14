package git

import (
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

var programEndings = []string{".exe"}

func runnable(fs.FileInfo) bool { return true }

// ownGroup keeps a stop that is meant for the daemon from the program.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// openPlain opens a file to read. What could have to be waited for is no file here.
func openPlain(path string) (*os.File, error) { return os.Open(path) }
