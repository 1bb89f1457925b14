//go:build !linux

package exec

// BecomeSubreaper does nothing here. Windows keeps each command in a Job Object, which nothing leaves; macOS has no way
// to adopt what leaves a process group, so such processes are not found there.
func BecomeSubreaper() error { return nil }

// Identity can't be told on this system: it is always "".
func Identity(int) string { return "" }
