package exec

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)

// wakeable gives f's descriptor as a file whose reads and writes end when it is closed. It consumes f.
func wakeable(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("copying the terminal's descriptor: %w", err)
	}
	f.Close()
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("preparing the terminal's descriptor: %w", err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// stopWriting ends a Write that waits, and lets none begin.
func (c *console) stopWriting() { _ = c.master.SetWriteDeadline(time.Unix(1, 0)) } // it takes deadlines, see wakeable

func (c *console) close() { c.master.Close() }

// noteBirth keeps what tells the shell from a later process with its number.
func (f *family) noteBirth() {
	p, _ := readProcess(f.proc.Pid)
	f.birth = p.start
}

// members lists the living processes of the shell's session, and those that left it with the mark.
func (f *family) members() []int {
	// One that shows no environment at the moment is seen at the next look, if it is of ours.
	living, _ := leftover{shell: f.proc.Pid, start: f.birth, mark: f.mark}.processes()
	var pids []int
	for _, p := range living {
		pids = append(pids, p.pid)
	}
	return pids
}

// outliving counts the living members once the shell has ended.
func (f *family) outliving() int {
	if f.adopting {
		return f.others()
	}
	return len(f.members())
}
