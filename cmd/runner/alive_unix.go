//go:build unix

package main

import (
	"errors"
	"syscall"
)

// alive reports whether a process with this id exists, and whether that is known.
func alive(pid int) (alive, known bool) {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM), true
}
