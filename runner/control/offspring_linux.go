package control

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"brabo.dev/runner/runner/failure"
)

// askDaemon bounds the wait for a daemon that takes no connections.
const askDaemon = 5 * time.Second

// RefuseOffspring says why the peer of a TCP connection may not steer what decides about actions: it descends from a
// daemon whose state lies below the folder state, or has ended. Failure: ControlRefused. Nil: it may, and so may a peer
// that is not found: one on another machine, of another user, or that hides its open files, as parts of a browser do.
func RefuseOffspring(conn net.Conn, state string) error {
	daemons := daemonsBelow(state)
	if len(daemons) == 0 {
		return nil
	}
	for _, pid := range holders(peerInode(conn)) {
		for _, daemon := range daemons {
			if descends, _ := descends(pid, daemon); descends {
				return failure.New(failure.ControlRefused, "process "+strconv.Itoa(pid))
			}
		}
	}
	// Whoever ended before it was found has closed its side by now.
	if open, err := established(conn); !open {
		return failure.New(failure.ControlRefused, "peer "+conn.RemoteAddr().String()).
			Because("it has closed its side or ended, so who it was can't be told").Wrap(err)
	}
	return nil
}

// daemonsBelow gives the ids of the daemons that listen below the folder state.
func daemonsBelow(state string) []int {
	if state == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), askDaemon)
	defer cancel()
	var pids []int
	for _, folder := range Folders(state) {
		conn, err := dial(ctx, folder)
		if err != nil {
			continue // there is none
		}
		if pid, err := peerOf(conn); err == nil && pid != 0 {
			pids = append(pids, pid)
		}
		conn.Close()
	}
	return pids
}

// peerOf gives the process at the other end of a Unix socket; of one that was dialled, who listens there.
func peerOf(conn net.Conn) (pid int, err error) {
	err = withDescriptor(conn, func(fd int) error {
		peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil {
			pid = int(peer.Pid)
		}
		return err
	})
	return pid, err
}

// established tells whether both sides of a TCP connection are open.
func established(conn net.Conn) (open bool, err error) {
	err = withDescriptor(conn, func(fd int) error {
		info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		open = err == nil && info.State == unix.BPF_TCP_ESTABLISHED
		return err
	})
	return open, err
}

// peerInode is the number of the socket at the other end of a TCP connection within this machine; "" where there is none
// or nobody holds it any more. The kernel lists each socket with its own address in front of its peer's.
func peerInode(conn net.Conn) string {
	peer, ok := conn.RemoteAddr().(*net.TCPAddr)
	own, ok2 := conn.LocalAddr().(*net.TCPAddr)
	if !ok || !ok2 {
		return ""
	}
	for file, listed := range map[string]func(*net.TCPAddr) string{"/proc/net/tcp": listed4, "/proc/net/tcp6": listed6} {
		from, to := listed(peer), listed(own)
		text, err := os.ReadFile(file)
		if err != nil || from == "" || to == "" {
			continue
		}
		for line := range bytes.Lines(text) {
			f := bytes.Fields(line)
			if len(f) > 9 && string(f[1]) == from && string(f[2]) == to && string(f[9]) != "0" {
				return string(f[9])
			}
		}
	}
	return ""
}

// listed4 is an address as /proc/net/tcp writes it; "" for one of IPv6.
func listed4(a *net.TCPAddr) string {
	ip := a.IP.To4()
	if ip == nil {
		return ""
	}
	return fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(ip), a.Port)
}

// listed6 is an address as /proc/net/tcp6 writes it, where one of IPv4 can stand too.
func listed6(a *net.TCPAddr) string {
	ip := a.IP.To16()
	if ip == nil {
		return ""
	}
	word := binary.NativeEndian.Uint32
	return fmt.Sprintf("%08X%08X%08X%08X:%04X", word(ip), word(ip[4:]), word(ip[8:]), word(ip[12:]), a.Port)
}

// holders are the processes that have a socket open, as far as they let this one look.
func holders(inode string) (pids []int) {
	if inode == "" {
		return nil
	}
	wanted := "socket:[" + inode + "]"
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, p := range processes {
		pid, err := strconv.Atoi(p.Name())
		if err != nil {
			continue
		}
		folder := filepath.Join("/proc", p.Name(), "fd")
		open, err := os.Open(folder)
		if err != nil {
			continue // another user's, or it has ended
		}
		names, _ := open.Readdirnames(-1)
		open.Close()
		for _, name := range names {
			if to, err := os.Readlink(folder + "/" + name); err == nil && to == wanted {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}
