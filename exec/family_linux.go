package exec

import (
	"cmp"
	"crypto/rand"

	"golang.org/x/sys/unix"
)

// kin finds those of a family that left its group, where this process adopts them. Otherwise it knows the group alone,
// which is why the shell is then collected last: its zombie keeps the group's number.
type kin struct {
	adopting bool
	mark     string           // value of markName
	since    uint64           // clock ticks since boot when the shell was about to start
	birth    uint64           // of a terminal's shell, likewise
	ended    map[int]struct{} // processes that outlived the shell and were signalled, by pid
}

func newKin(mark string) kin {
	return kin{mark: cmp.Or(mark, rand.Text()), ended: make(map[int]struct{})}
}

func (f *family) environment(env []string) []string { return append(env, markName+"="+f.mark) }

func (f *family) born(start func() error) error { return account.adopt(f, start) }

// shellEnded is called once await has returned.
func (f *family) shellEnded() {
	if f.adopting {
		account.collect(f)
	}
}

// others counts the living members besides the shell; those that ended on their own are collected.
func (f *family) others() int {
	if !f.adopting {
		return 0
	}
	return account.others(f)
}

func (f *family) signal(sig unix.Signal) {
	if f.adopting {
		account.signal(f, sig)
	} else {
		f.signalGroup(sig)
	}
}

// release ends the family's account: left counts the members that outlived the shell and were ended, survivors those
// that nothing ended.
func (f *family) release() (left, survivors int) {
	survivors = account.release(f)
	return len(f.ended), survivors
}

// awaitExit waits for a child without collecting it.
func awaitExit(pid int) {
	for {
		if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			return
		}
	}
}
