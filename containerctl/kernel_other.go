//go:build !linux

package containerctl

// localKernel is no release that an engine could name: Linux containers run in a virtual machine here.
func localKernel() string { return "" }
