//go:build !linux

package workspace

import "os"

func openFolder(dir string) (*os.File, error) { return os.Open(dir) }

// whereIs is the real path that leads to the folder now.
func whereIs(opened *os.File) (string, error) { return RealPath(opened.Name()) }
