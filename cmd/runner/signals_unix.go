//go:build unix

package main

import (
	"os"
	"syscall"
)

// stopSignals are the signals that ask for an orderly stop.
func stopSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }
