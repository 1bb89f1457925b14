//go:build !linux

package exec

import (
	"errors"
	"os"
)

// Cgroup is there on Linux alone.
type Cgroup struct{}

// ClaimCgroup fails here.
func ClaimCgroup() (*Cgroup, error) { return nil, KernelKeepsLimits() }

// KernelKeepsLimits gives an error: this system has no cgroups.
func KernelKeepsLimits() error { return errors.New("this system has no cgroups") }

// cell is never made here.
type cell struct{}

func (b Bounds) enclose(*os.ProcAttr) *cell { return nil }

func (x *cell) tighten(Limits) {}

func (x *cell) kill() {}

func (x *cell) remove() {}
