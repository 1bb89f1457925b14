//go:build !linux

package exec

import "os"

// through is the folder's name: this system has no path to what is open.
func through(folder *os.File) string { return folder.Name() }
