package control

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// maxPath is what fits into a socket's address, with the zero at its end; see unix(7).
const maxPath = 107

// shortened gives a name for path that fits into an address: through an open folder where path itself is too long.
// The name is good until done is called.
func shortened(path string) (short string, done func(), err error) {
	if len(path) <= maxPath {
		return path, func() {}, nil
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, fmt.Errorf("opening the socket's folder: %w", err)
	}
	short = filepath.Join("/proc/self/fd", strconv.Itoa(int(folder.Fd())), filepath.Base(path))
	return short, func() { folder.Close() }, nil
}
