//go:build !linux

package exec

// Reaper has nothing to do on this system: see BecomeSubreaper.
type Reaper struct{}

// BecomeSubreaper does nothing here. Windows keeps each command in a Job Object, which nothing leaves; macOS has no way
// to adopt what leaves a process group, so such processes are not found there.
func BecomeSubreaper() (*Reaper, error) { return &Reaper{}, nil }

// Identity can't be told on this system: it is always "".
func Identity(int) string { return "" }
