package exec

import (
	"os"
	"strconv"
)

// through is a path by which a process that was just made gets into the open folder, whatever its name leads to now.
func through(folder *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(folder.Fd())) }
