package exec

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// reaper is the account of what commands leave behind. The kernel gives a subreaper every orphan below it, whatever
// session or group the orphan has moved to; the reaper finds out whose it is, ends it with its command and collects its
// zombie. It starts no goroutine: the Runs that share it do the work.
//
// An orphan belongs to the command in whose session it is. One that made a session of its own belongs to a command that
// ran when the orphan was born: if there were several, to the one whose mark its environment carries, and if it carries
// none (env -i), it is ended when the last of them ends. The mark only chooses among those, so that a forged one gains
// nothing but another of these ends.
//
// Children that this process starts outside Run have to stay in its own session; they are left alone, unless they lie
// dead for a minute.
type reaper struct {
	mu       sync.Mutex // guards what follows, and the collecting of orphans: under it no orphan's pid can change hands
	adopting bool       // BecomeSubreaper was called
	families map[*family]struct{}
	lost     map[int]uint64    // survivors of families that are gone: pid to start time
	blank    map[int]time.Time // orphans without an environment: when they were first seen so
	claims   map[claim]*family // orphans whose mark was read once: one that is ending has none any more

	strangers map[claim]time.Time // zombies of no command: when they were first seen
}

// claim is an orphan for as long as it is the same process.
type claim struct {
	pid   int
	start uint64
}

// unclaimed is how long a zombie that belongs to no command is left to whoever may still wait for it. What a program that
// another room started leaves behind (git's own upkeep) comes to us as well, and nobody else will ever collect it.
const unclaimed = time.Minute

// execTime is how long an orphan may have no environment because it is just becoming another program.
const execTime = 50 * time.Millisecond

// account is the only one: the children of this process are one list in the kernel, whoever started them, and so there is one account of them: two
// would each take the other's shells for orphans.
var account = reaper{
	families: make(map[*family]struct{}),
	lost:     make(map[int]uint64),
	blank:    make(map[int]time.Time),
	claims:   make(map[claim]*family),

	strangers: make(map[claim]time.Time),
}

// BecomeSubreaper makes this process the parent of all orphans below it, for the rest of its life. Commands started from
// then on are ended with everything that left their group; processes of another user (sudo) are found, but can't be
// ended. Every other child that this process starts outside Run has to stay in this process's session, or it is taken
// for an orphan of the commands that run beside it.
func BecomeSubreaper() error {
	account.mu.Lock()
	defer account.mu.Unlock()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("becoming the reaper of what commands leave behind: %w", err)
	}
	account.adopting = true
	return nil
}

// adopt starts f's shell and keeps f until release. No sweep runs meanwhile, which would take the shell for an orphan.
func (r *reaper) adopt(f *family, start func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.adopting, f.since = r.adopting, bootTicks()
	if err := start(); err != nil {
		return err
	}
	r.families[f] = struct{}{}
	return nil
}

// collect takes the status of f's shell, so that from here on every child in f's session is an orphan.
func (r *reaper) collect(f *family) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.collect()
}

func (r *reaper) others(f *family) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.orphansOf(f))
}

// signal signals f's group while its shell is not collected, and every orphan of f with its group.
func (r *reaper) signal(f *family, sig unix.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.signalGroup(sig)
	groups := make(map[int]bool)
	for _, p := range r.orphansOf(f) {
		if p.undecided {
			continue
		}
		if f.state != nil {
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
func (r *reaper) release(f *family) (survivors int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !f.adopting {
		f.signalGroup(unix.SIGKILL)
	}
	f.collect()
	if f.adopting {
		for _, p := range r.orphansOf(f) {
			if !p.undecided {
				r.lost[p.pid] = p.start
				survivors++
			}
		}
	}
	delete(r.families, f)
	maps.DeleteFunc(r.claims, func(_ claim, owner *family) bool { return owner == f })
	return survivors
}

// orphansOf lists f's living orphans, and those of which the next look will tell whose they are. It collects dead ones,
// whosever they are.
func (r *reaper) orphansOf(f *family) []process {
	if noChildren() {
		clear(r.lost)
		clear(r.blank)
		clear(r.claims)
		clear(r.strangers)
		return nil
	}
	session, err := unix.Getsid(0)
	if err != nil {
		return nil
	}
	for {
		// What died during a look has left its children to us, and they may be on no list that was read: look again.
		if found, buried := r.look(f, session); !buried {
			return found
		}
	}
}

// look goes once through our children, for orphansOf.
func (r *reaper) look(f *family, session int) (found []process, buried bool) {
	self := os.Getpid()
	for _, pid := range children(self) {
		p, ok := readProcess(pid)
		if !ok || p.parent != self || r.isShell(pid) {
			continue
		}
		var owners []*family
		if p.session != session {
			owners = r.owners(&p)
		}
		switch {
		case p.zombie:
			if len(owners) > 0 || r.lost[pid] == p.start || r.isUnclaimed(p) {
				r.bury(p)
				buried = true
			}
		case !p.zombie && (len(owners) == 1 && owners[0] == f || p.undecided):
			found = append(found, p)
		}
	}
	return found, buried
}

// bury collects a dead child and all that is remembered of it.
func (r *reaper) bury(p process) {
	_ = unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOHANG, nil)
	delete(r.lost, p.pid)
	delete(r.blank, p.pid)
	delete(r.claims, claim{p.pid, p.start})
	delete(r.strangers, claim{p.pid, p.start})
}

// isUnclaimed tells whether a zombie of no command has been there for so long that nobody waits for it.
func (r *reaper) isUnclaimed(p process) bool {
	id := claim{p.pid, p.start}
	first, seen := r.strangers[id]
	if !seen {
		first = time.Now()
		r.strangers[id] = first
	}
	return time.Since(first) >= unclaimed
}

// isShell tells whether pid is a command's shell that its own Run will collect.
func (r *reaper) isShell(pid int) bool {
	for f := range r.families {
		if f.state == nil && f.proc.Pid == pid {
			return true
		}
	}
	return false
}

// owners are the families that p may belong to. It marks p undecided if that can't be told yet.
func (r *reaper) owners(p *process) []*family {
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
	id := claim{p.pid, p.start}
	if f := r.claims[id]; slices.Contains(owners, f) {
		return []*family{f}
	}
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/environ")
	if err != nil {
		return owners // another user's
	}
	for _, f := range owners {
		if bytes.Contains(environ, []byte(markName+"="+f.mark+"\x00")) {
			r.claims[id] = f
			return []*family{f}
		}
	}
	if len(environ) == 0 {
		first, seen := r.blank[p.pid]
		if !seen {
			first = time.Now()
			r.blank[p.pid] = first
		}
		p.undecided = time.Since(first) < execTime
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
