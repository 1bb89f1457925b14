//go:build !linux

package control

import "net"

// refusePeer lets everybody in whom the socket's mode lets in: here the daemon can't be made the reaper of what its
// actions leave behind, so that their family is not known.
func refusePeer(net.Conn, int) error { return nil }

// Daemons are not told apart here.
type Daemons struct{}

// NewDaemons is about no daemons.
func NewDaemons(string) *Daemons { return &Daemons{} }

// Look finds none.
func (*Daemons) Look() []int { return nil }

// RefuseOffspring lets everybody in, for the same reason.
func (*Daemons) RefuseOffspring(net.Conn) error { return nil }
