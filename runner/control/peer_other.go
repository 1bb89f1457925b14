//go:build !linux

package control

import "net"

// refusePeer lets everybody in whom the socket's mode lets in: here the daemon can't be made the reaper of what its
// actions leave behind, so that their family is not known.
func refusePeer(net.Conn, int) error { return nil }

// RefuseOffspring lets everybody in, for the same reason.
func RefuseOffspring(net.Conn, string) error { return nil }
