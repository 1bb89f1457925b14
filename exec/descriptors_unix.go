//go:build unix

package exec

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// KeepDescriptors keeps from every command what this process has open now, also what whoever started it left open to it:
// a command gets standard input, output and error, and no more.
func KeepDescriptors() error {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return fmt.Errorf("keeping open files from commands: %w", err)
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd) // the one by which they were listed is gone, which does no harm
		}
	}
	return nil
}
