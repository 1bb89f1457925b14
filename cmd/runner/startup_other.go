//go:build !linux

package main

// unmapProgram is needed on Linux alone: elsewhere pages of a program that are not used any more leave by themselves.
func unmapProgram() error { return nil }
