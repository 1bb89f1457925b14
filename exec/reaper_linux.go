package exec

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Reaper is the parent of what commands leave behind. The kernel gives it every orphan below this process, whatever
// session or group the orphan has moved to; the Reaper finds out whose it is, ends it with its command and collects its
// zombie. It starts no goroutine: the Runs that share it do the work.
//
// An orphan belongs to the command in whose session it is. One that made a session of its own belongs to a command that
// ran when the orphan was born: if there were several, to the one whose mark its environment carries, and if it carries
// none (env -i), it is ended when the last of them ends. The mark only chooses among those, so that a forged one gains
// nothing but another of these ends.
//
// Every child that this process starts outside Run has to stay in this process's session; the Reaper leaves those
// alone. Processes of another user (sudo) are found, but can't be ended.
type Reaper struct {
	self, session int

	mu       sync.Mutex // guards what follows, and the collecting of orphans: under it no orphan's pid can change hands
	families map[*family]struct{}
	lost     map[int]uint64 // survivors of families that are gone: pid to start time
}

// BecomeSubreaper makes this process the parent of all orphans below it, for the rest of its life, and gives the Reaper
// that takes care of them. A process needs exactly one.
func BecomeSubreaper() (*Reaper, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("becoming the reaper of what commands leave behind: %w", err)
	}
	session, err := unix.Getsid(0)
	if err != nil {
		return nil, fmt.Errorf("reading our own session: %w", err)
	}
	return &Reaper{
		self: os.Getpid(), session: session,
		families: make(map[*family]struct{}), lost: make(map[int]uint64),
	}, nil
}

// adopt starts f's shell and keeps f until release.
func (r *Reaper) adopt(f *family, start func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.since = bootTicks()
	if err := start(); err != nil {
		return err
	}
	r.families[f] = struct{}{}
	return nil
}

// collect takes the status of f's shell, so that from here on every child in f's session is an orphan.
func (r *Reaper) collect(f *family) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.collect()
}

func (r *Reaper) others(f *family) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.orphansOf(f))
}

// signal signals f's group while its shell is not collected, and every orphan of f with its group.
func (r *Reaper) signal(f *family, sig unix.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.signalGroup(sig)
	groups := make(map[int]bool)
	for _, p := range r.orphansOf(f) {
		if f.state != nil {
			if f.ended == nil {
				f.ended = make(map[int]struct{})
			}
			f.ended[p.pid] = struct{}{}
		}
		// The group is the orphan's at this moment, and the orphan is pinned: it is a child that only we collect.
		if !groups[p.group] {
			groups[p.group] = true
			_ = unix.Kill(-p.group, sig)
		}
		_ = unix.Kill(p.pid, sig)
	}
}

// release forgets f. Its survivors are remembered, so that they are collected one day.
func (r *Reaper) release(f *family) (survivors int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.collect()
	for _, p := range r.orphansOf(f) {
		r.lost[p.pid] = p.start
		survivors++
	}
	delete(r.families, f)
	return survivors
}

// orphansOf lists f's living orphans and collects dead ones, whosever they are.
func (r *Reaper) orphansOf(f *family) []process {
	if noChildren() {
		clear(r.lost)
		return nil
	}
	var found []process
	for _, pid := range children(r.self) {
		p, ok := readProcess(pid)
		if !ok || p.parent != r.self || p.session == r.session || r.isShell(pid) {
			continue
		}
		owners := r.owners(p)
		start, lost := r.lost[pid]
		lost = lost && start == p.start
		switch {
		case p.zombie && (len(owners) > 0 || lost):
			_ = unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOHANG, nil)
			delete(r.lost, pid)
		case !p.zombie && len(owners) == 1 && owners[0] == f:
			found = append(found, p)
		}
	}
	return found
}

// isShell tells whether pid is a command's shell that its own Run will collect.
func (r *Reaper) isShell(pid int) bool {
	for f := range r.families {
		if f.state == nil && f.proc.Pid == pid {
			return true
		}
	}
	return false
}

// owners are the families that p may belong to.
func (r *Reaper) owners(p process) []*family {
	var owners []*family
	for f := range r.families {
		if f.proc.Pid == p.session {
			return []*family{f}
		}
		if f.since <= p.start {
			owners = append(owners, f)
		}
	}
	if len(owners) < 2 || p.zombie {
		return owners
	}
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/environ")
	if err != nil {
		return owners // another user's
	}
	for _, f := range owners {
		if bytes.Contains(environ, []byte(markName+"="+f.mark+"\x00")) {
			return []*family{f}
		}
	}
	return owners
}

// bootTicks is now in the unit of a process's start time: hundredths of a second since boot.
func bootTicks() uint64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return 0
	}
	return uint64(t.Nano() / int64(10*time.Millisecond))
}
