//go:build !linux

package exec

import (
	"context"
	"errors"
)

// identity is empty: this system does not tell a process from a later one with its number.
func (f *family) identity() string { return "" }

// EndLeftovers ends nothing here: on Windows the job object has ended a dead daemon's commands, and elsewhere the
// system can't tell whether a number still means the same process. See the Linux version.
func EndLeftovers(_ context.Context, _ int, identity string) (ended int, err error) {
	if identity == "" {
		return 0, errors.New("this system does not tell whether the processes of an earlier command still run")
	}
	return 0, nil
}

// EndMarked finds nothing here, as EndLeftovers.
func EndMarked(context.Context, string) (ended int, err error) {
	return 0, errors.New("this system does not tell whether the processes of an earlier command still run")
}
