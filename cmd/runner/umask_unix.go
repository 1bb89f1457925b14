//go:build unix

package main

import "golang.org/x/sys/unix"

// currentUmask gives the user's umask. There is no way to ask for it without setting it; for that moment nobody else
// may do anything.
func currentUmask() uint32 {
	umask := unix.Umask(0o77)
	unix.Umask(umask)
	return uint32(umask)
}
