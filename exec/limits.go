package exec

import (
	"fmt"
	"time"

	"brabo.dev/runner/runner/failure"
)

// Limits bound what a command takes of the machine (commands.limits). Zero is no limit, and core files are never written.
//
// CPU, OpenFiles and FileSize bound each process by itself, not on Windows. Memory and Processes bound a command with
// all that it started, on Linux alone, and not terminals: the kernel keeps them where Run is given a Cgroup, and elsewhere
// Run counts, see countEvery, so that a command can be over for a moment. Past either the whole family is killed and
// the result says limit_exceeded.
type Limits struct {
	CPU       time.Duration // of processor time, in whole seconds, rounded up; SIGXCPU beyond it, and a second later SIGKILL
	OpenFiles int64
	FileSize  int64 // bytes of one file; SIGXFSZ beyond it
	Memory    int64 // bytes; what processes share counts once
	Processes int64 // at the same time, the shell included
}

// countEvery is the rhythm in which a command's processes and memory are counted. It costs a few reads of /proc for each
// process, and a command can grow for as long as this before it is noticed.
const countEvery = 50 * time.Millisecond

// ofProcess are the limits that a process is given before it becomes the command.
func (l Limits) ofProcess() Limits {
	l.Memory, l.Processes = 0, 0
	return l
}

// counted tells whether a family as a whole is limited.
func (l Limits) counted() bool { return l.Memory > 0 || l.Processes > 0 }

// excess is a limit that a family went past.
type excess struct {
	limit string // its name in commands.limits
	said  string
}

func (e *excess) failure(subject string) *failure.Failure {
	return failure.New(failure.LimitExceeded, subject).Because("%s; it was killed with all that it started", e.said)
}

// over judges what was counted; nil: it is within the limits.
func (l Limits) over(processes, memory int64) *excess {
	switch {
	case l.Processes > 0 && processes > l.Processes:
		return &excess{"pids", fmt.Sprintf("it had more than the %d processes of `pids`", l.Processes)}
	case l.Memory > 0 && memory > l.Memory:
		return &excess{"memory", fmt.Sprintf("it used %d MiB, more than the %d MiB of `memory`", (memory+1<<20-1)>>20, l.Memory>>20)}
	}
	return nil
}
