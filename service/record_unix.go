//go:build unix

package service

// records gives what Windows has registered: nothing here.
func records() []Definition { return nil }
