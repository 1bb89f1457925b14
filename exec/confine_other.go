//go:build !linux

package exec

import (
	"runtime"

	"brabo.dev/runner/runner/failure"
)

// Confinement tells what confines commands on this machine, or the failure confinement_unavailable.
func Confinement() (string, error) {
	return "", failure.New(failure.ConfinementUnavailable, runtime.GOOS).Because("commands can be confined on Linux alone")
}

func (o order) confine() error {
	_, err := Confinement()
	return err
}
