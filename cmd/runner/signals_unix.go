//go:build unix

package main

import (
	"os"
	"syscall"
)

// stopSignals are the signals that ask for an orderly stop.
func stopSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// endBy ends this process as the signal does by default.
func endBy(s os.Signal) {
	if number, ok := s.(syscall.Signal); ok {
		_ = syscall.Kill(os.Getpid(), number)
	}
}
