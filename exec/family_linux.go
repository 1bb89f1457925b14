package exec

import (
	"crypto/rand"
	"strings"

	"golang.org/x/sys/unix"
)

// markName is a variable in a command's environment by which its orphans are told from those of a command that runs at
// the same time. Nothing depends on its being left alone, see Reaper.
const markName = "RUNNER_COMMAND_ID"

// kin finds those of a family that left its group. Without a Reaper it finds nobody.
type kin struct {
	reaper *Reaper
	mark   string           // value of markName
	since  uint64           // clock ticks since boot when the shell was about to start
	ended  map[int]struct{} // processes that outlived the shell and were signalled, by pid
}

func newKin(c *Command) kin {
	k := kin{reaper: c.Reaper}
	if k.reaper != nil {
		k.mark = strings.ToLower(rand.Text())
	}
	return k
}

func (f *family) environment(c *Command) []string {
	env := commandEnv(c)
	if f.reaper != nil {
		env = append(env, markName+"="+f.mark)
	}
	return env
}

// born starts the shell. Under a Reaper no sweep runs meanwhile, which would take the shell for an orphan.
func (f *family) born(start func() error) error {
	if f.reaper == nil {
		return start()
	}
	return f.reaper.adopt(f, start)
}

// shellEnded is called once await has returned.
func (f *family) shellEnded() {
	if f.reaper != nil {
		f.reaper.collect(f)
	}
}

// others counts the living members besides the shell; those that ended on their own are collected.
func (f *family) others() int {
	if f.reaper == nil {
		return 0
	}
	return f.reaper.others(f)
}

func (f *family) signal(sig unix.Signal) {
	if f.reaper == nil {
		f.signalGroup(sig)
		return
	}
	f.reaper.signal(f, sig)
}

// release ends the family's account: left counts the members that outlived the shell and were ended, survivors those
// that nothing ended.
func (f *family) release() (left, survivors int) {
	if f.reaper == nil {
		f.signalGroup(unix.SIGKILL)
		f.collect()
		return 0, 0
	}
	survivors = f.reaper.release(f)
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
