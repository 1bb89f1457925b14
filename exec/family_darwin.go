package exec

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kin is empty: what leaves the group can't be found here.
type kin struct{}

func newKin(string) kin { return kin{} }

func (f *family) environment(env []string) []string { return env }

func (f *family) born(start func() error) error { return start() }

// shellEnded leaves the shell uncollected, so that the group stays ours until release.
func (f *family) shellEnded() {}

// others is 1 where somebody besides the shell lives in the group. A group of nothing but zombies answers EPERM.
func (f *family) others() int {
	if f.state == nil && unix.Kill(-f.proc.Pid, 0) == nil {
		return 1
	}
	return 0
}

func (f *family) signal(sig unix.Signal) { f.signalGroup(sig) }

func (f *family) release() (left, survivors int) {
	left = f.others()
	f.signalGroup(unix.SIGKILL)
	f.collect()
	return left, 0
}

// awaitExit waits for a child without collecting it. There is no wrapper for waitid here; its siginfo takes 104 bytes.
func awaitExit(pid int) {
	const (
		pPID    = 1
		wExited = 0x04
		wNoWait = 0x20
	)
	var info [128]byte
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(pid), uintptr(unsafe.Pointer(&info)), wExited|wNoWait, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}
