package control

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"brabo.dev/runner/runner/failure"
)

// askDaemon bounds the wait for a daemon that takes no connections.
const askDaemon = 5 * time.Second

// Daemons are those whose state lies below one folder. They are remembered from when they were first seen: an action can
// take a daemon's socket away, which is a file of its user, but it can't get another ancestor.
type Daemons struct {
	state string
	mu    sync.Mutex
	seen  map[int]uint64 // when each of them was born, by its id; guarded by mu
}

// NewDaemons is about the daemons below the folder state; empty: about none.
func NewDaemons(state string) *Daemons { return &Daemons{state: state, seen: map[int]uint64{}} }

// RefuseOffspring says why the peer of a TCP connection may not steer what decides about actions: it descends from a
// daemon, or has ended. Failure: ControlRefused. Nil: it may, and so may a peer that is not found: one on another machine,
// of another user, or that hides its open files, as parts of a browser do. Several goroutines may ask.
func (d *Daemons) RefuseOffspring(conn net.Conn) error {
	daemons := d.Look()
	if len(daemons) == 0 {
		return nil
	}
	if pid := offspringWith(peerInode(conn), daemons); pid != 0 {
		return failure.New(failure.ControlRefused, "process "+strconv.Itoa(pid))
	}
	// Whoever ended before it was found has closed its side by now.
	if open, err := established(conn); !open {
		return failure.New(failure.ControlRefused, "peer "+conn.RemoteAddr().String()).
			Because("it has closed its side or ended, so who it was can't be told").Wrap(err)
	}
	return nil
}

// Look finds the daemons that listen, and gives the ids of all that were ever found and live. It waits up to 5 s for one
// that takes no connections. Several goroutines may call it.
func (d *Daemons) Look() (pids []int) {
	found := daemonsBelow(d.state)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, pid := range found {
		if born, ok := born(pid); ok {
			d.seen[pid] = born
		}
	}
	for pid, since := range d.seen {
		if born, ok := born(pid); !ok || born != since {
			delete(d.seen, pid) // it has ended, and another process may have its number
			continue
		}
		pids = append(pids, pid)
	}
	return pids
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
			continue // there is none, or it is hidden
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

// offspringWith is a descendant of a daemon that has a socket open, as far as it lets this one look; 0 where there is none.
// The folder of a process shows the open files of its first thread alone, which may have ended or share them with no other:
// so those of the other threads are looked at too, but only where the thread can be one of a descendant.
func offspringWith(inode string, daemons []int) int {
	if inode == "" {
		return 0
	}
	socket := "socket:[" + inode + "]"
	family := func(pid int) bool {
		return slices.ContainsFunc(daemons, func(daemon int) bool { is, _ := descends(pid, daemon); return is })
	}
	processes := numbered("/proc")
	for _, pid := range processes {
		if opened(filepath.Join("/proc", strconv.Itoa(pid), "fd"), socket) && family(pid) {
			return pid
		}
	}
	for _, pid := range processes {
		threads := filepath.Join("/proc", strconv.Itoa(pid), "task")
		numbers := numbered(threads)
		if len(numbers) < 2 || !family(pid) {
			continue
		}
		for _, thread := range numbers {
			if opened(filepath.Join(threads, strconv.Itoa(thread), "fd"), socket) {
				return pid
			}
		}
	}
	return 0
}

// numbered are the numbers among the names in a folder; none where it can't be read.
func numbered(folder string) (numbers []int) {
	for _, name := range namesIn(folder) {
		if n, err := strconv.Atoi(name); err == nil {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// opened tells whether a folder of open files has one that leads to the target; not where it can't be read, being
// another user's, hidden, or gone.
func opened(folder, target string) bool {
	return slices.ContainsFunc(namesIn(folder), func(name string) bool {
		to, err := os.Readlink(folder + "/" + name)
		return err == nil && to == target
	})
}

func namesIn(folder string) []string {
	open, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer open.Close()
	names, _ := open.Readdirnames(-1)
	return names
}
