package exec

import (
	"bytes"
	"os"
	"strconv"
)

// excess tells what limit the family is past, as its cgroup says or a count of it; nil: none.
func (f *family) excess(l Limits) *excess {
	if f.cell != nil {
		return f.cell.excess(l) // the kernel keeps both, and reclaims what can be read again before it counts it as too much
	}
	members := f.census(l.Processes)
	if e := l.over(int64(len(members)), 0); e != nil || l.Memory == 0 {
		return e
	}
	if memoryOf(members, resident) <= l.Memory {
		return nil
	}
	// What processes share was counted for each of them. What is exact has the kernel walk through all their pages.
	return l.over(0, memoryOf(members, proportional))
}

// refused tells what limit the kernel has kept, as far as the family ended by that.
func (f *family) refused(l Limits) *excess { return f.cell.excess(l) }

// census lists the living processes of the family: the shell, what it has left to us as the reaper, and all below them.
// It stops when there are more than most, 0 being no bound.
func (f *family) census(most int64) []int {
	var members []int
	seen := make(map[int]bool)
	next := f.heads()
	for len(next) > 0 && (most == 0 || int64(len(members)) <= most) {
		pid := next[0]
		next = next[1:]
		if p, ok := readProcess(pid); !ok || seen[pid] || p.zombie {
			continue
		}
		seen[pid] = true
		members = append(members, pid)
		next = append(next, children(pid)...)
	}
	return members
}

// heads are the processes of the family that are children of this one.
func (f *family) heads() []int {
	var heads []int
	if f.state == nil {
		heads = append(heads, f.proc.Pid)
	}
	if !f.adopting {
		return heads
	}
	account.mu.Lock()
	defer account.mu.Unlock()
	for _, p := range account.orphansOf(f) {
		if !p.undecided {
			heads = append(heads, p.pid)
		}
	}
	return heads
}

func memoryOf(members []int, bytesOf func(pid int) int64) (sum int64) {
	for _, pid := range members {
		sum += bytesOf(pid)
	}
	return sum
}

// resident is what a process has in memory, all that it shares included: the second number of statm, in pages.
func resident(pid int) int64 {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm") // it may be gone
	if fields := bytes.Fields(text); len(fields) > 1 {
		pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
		return pages * int64(os.Getpagesize())
	}
	return 0
}

// proportional is resident with each page divided by the number of processes that have it, and without those of files,
// which the kernel takes back when it needs them.
func proportional(pid int) int64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil {
		return resident(pid) // another user's (sudo), or a kernel without it
	}
	kib := make(map[string]int64)
	for line := range bytes.Lines(text) {
		if fields := bytes.Fields(line); len(fields) > 1 {
			kib[string(fields[0])], _ = strconv.ParseInt(string(fields[1]), 10, 64)
		}
	}
	if _, told := kib["Pss_File:"]; told {
		return (kib["Pss:"] - kib["Pss_File:"]) << 10
	}
	return kib["Pss:"] << 10 // before Linux 5.9; 0: it has ended
}
