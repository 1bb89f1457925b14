//go:build !linux

package exec

import "os"

func openPipe() (reader, writer *os.File, err error) { return os.Pipe() }
