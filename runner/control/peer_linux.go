package control

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"brabo.dev/runner/runner/failure"
)

// refusePeer says why the peer of conn may ask nothing of the daemon with the id self: it is one of its descendants,
// or nobody can tell. Nil: it may.
func refusePeer(conn net.Conn, self int) error {
	return withDescriptor(conn, func(fd int) error { return judgePeer(fd, self) })
}

// withDescriptor has f look at the socket below conn.
func withDescriptor(conn net.Conn, f func(fd int) error) error {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return fmt.Errorf("%T is no socket", conn)
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return fmt.Errorf("looking at the socket: %w", err)
	}
	var looked error
	err = raw.Control(func(fd uintptr) { looked = f(int(fd)) })
	return errors.Join(err, looked)
}

func judgePeer(fd, self int) error {
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return fmt.Errorf("asking for the socket's peer: %w", err)
	}
	pid := int(peer.Pid)
	unknown := failure.New(failure.ControlRefused, "process "+strconv.Itoa(pid))
	if uid := int(peer.Uid); uid != os.Getuid() && uid != 0 {
		return unknown.Because("it belongs to another user, %d", uid)
	}
	if pid == 0 { // it is in another process namespace, where we can't see its parents
		return unknown.Because("it runs in a container, where its parents can't be told")
	}
	// The number is certain to be the peer's for as long as it lives, which a handle on it tells. Older kernels have
	// none; there a descendant would have to end and leave its number to a stranger within this moment.
	handle, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	switch {
	case err == nil:
		defer unix.Close(handle)
	case !errors.Is(err, unix.ENOPROTOOPT):
		return unknown.Because("it has ended, so its parents can't be told").Wrap(err)
	}
	descends, known := descends(pid, self)
	switch {
	case descends:
		return failure.New(failure.ControlRefused, "process "+strconv.Itoa(pid))
	case !known || err == nil && gone(handle):
		return unknown.Because("it or a parent of it ended meanwhile, so its parents can't be told")
	}
	return nil
}

// gone tells whether the process of a handle has ended.
func gone(handle int) bool {
	fds := []unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, 0)
		if !errors.Is(err, unix.EINTR) {
			return n != 0 || err != nil
		}
	}
}

// Bounds of the search for an ancestor: no machine has families that deep, and a family that changes is looked at
// again.
const (
	maxDepth = 4096
	tries    = 5
)

// descends tells whether pid is a true descendant of self, and whether that is known: parents may end while they are
// looked at, and then their children have another one.
func descends(pid, self int) (descends, known bool) {
	for range tries {
		if descends, known = walk(pid, self); known {
			return descends, known
		}
	}
	return false, false
}

func walk(pid, self int) (descends, known bool) {
	if pid == self {
		return false, true // it asks itself, which only its own code can
	}
	for range maxDepth {
		next, ok := parent(pid)
		switch {
		case !ok:
			return false, false
		case next == self:
			return true, true
		case next == 0: // the first process here, or one whose parent is outside of the namespace
			return false, true
		}
		pid = next
	}
	return false, false
}

// parent is the parent of a process, unless it has ended.
func parent(pid int) (int, bool) {
	fields := facts(pid)
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return parent, err == nil
}

// born is when a process was started, in hundredths of a second since the boot, unless it has ended; with its id that is
// no other process.
func born(pid int) (uint64, bool) {
	fields := facts(pid)
	if len(fields) < 20 {
		return 0, false
	}
	born, err := strconv.ParseUint(string(fields[19]), 10, 64)
	return born, err == nil && !bytes.Equal(fields[0], []byte("Z"))
}

// facts reads /proc/PID/stat; behind the name, which may hold anything, stand the state, the parent, and more.
func facts(pid int) [][]byte {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	return bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
}
