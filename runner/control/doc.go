// Package control is the daemon's local socket: how other commands of the same person ask a running daemon for its
// status. The daemon is the only writer of its state, so they ask it and read no file of its.
//
// It is HTTP with JSON over a Unix socket beside the journal's lock, mode 0600 in a folder that is its owner's alone;
// on Windows over a named pipe that only its owner may open, whose name stands in a file there. Each daemon has a
// state folder of its own, so a machine with several daemons has several sockets: Find asks all of them.
//
//	GET /status    the Status
//	GET /history   Actions, newest first
//	POST /confirm  the person's word about a held action
//	GET /checks    what `runner doctor` finds
//	POST /projects has the daemon ask at once which projects there are
//
// On Linux a peer that descends from the daemon is refused: it is, or was started by, one of the daemon's own
// actions, and those must not steer who judges them. The daemon is the reaper of what its actions leave behind, so
// that no descendant gets out of its family by losing its parents. Daemons asks the same about who connects to
// the hub.
//
// A Server owns its goroutines; Close ends them and waits.
package control
