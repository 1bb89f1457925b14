package exec

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)

// wakeable is f: the poller of this system does not serve pseudo terminals, so that a read ends with the inner end.
func wakeable(f *os.File) (*os.File, error) { return f, nil }

// stopWriting does nothing: a Write that waits ends with the programs inside.
func (c *console) stopWriting() {}

// close ends the inner end first, whoever holds it, and with it a read.
func (c *console) close() {
	_ = unix.Revoke(c.inner) // it may be gone with its last holder
	c.master.Close()
}

func (f *family) noteBirth() {}

// members lists the living processes of the shell's session.
func (f *family) members() []int {
	const zombie = 5 // SZOMB of sys/proc.h
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	var pids []int
	for _, p := range all {
		pid := int(p.Proc.P_pid)
		if session, err := unix.Getsid(pid); err == nil && session == f.proc.Pid && p.Proc.P_stat != zombie {
			pids = append(pids, pid)
		}
	}
	return pids
}

// outliving counts the living members once the shell has ended. It is not collected yet, so the session is still its own.
func (f *family) outliving() int { return len(f.members()) }
