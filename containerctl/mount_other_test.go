//go:build !linux

package containerctl

import "testing"

func mountSmall(t *testing.T, _ string) {
	t.Helper()
	t.Skip("mounts a tmpfs as Linux does")
}
