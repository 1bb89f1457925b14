package exec

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// process is what /proc says about one process.
type process struct {
	pid, parent, group, session int
	start                       uint64 // hundredths of a second since boot
	zombie                      bool
	undecided                   bool // whose orphan it is; set by the reaper
}

// readProcess reads /proc/PID/stat. Behind the name, which may hold anything, stand state (field 3), parent, group,
// session, and as field 22 the start time; see proc_pid_stat(5).
func readProcess(pid int) (process, bool) {
	stat, err := readStat("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return process{}, false
	}
	p := process{pid: pid, zombie: bytes.ContainsAny(fields[0], "ZX")}
	p.parent, _ = strconv.Atoi(string(fields[1]))
	p.group, _ = strconv.Atoi(string(fields[2]))
	p.session, _ = strconv.Atoi(string(fields[3]))
	p.start, err = strconv.ParseUint(string(fields[19]), 10, 64)
	return p, err == nil
}

// maxStat is more than a process's stat has: 52 numbers and a short name.
const maxStat = 2048

// readStat is os.ReadFile for what the kernel writes in one piece, in three system calls instead of ten: each command
// does it as it starts, and each look for orphans once a process.
func readStat(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	buf := make([]byte, maxStat)
	n, err := unix.Read(fd, buf)
	if err != nil {
		return nil, err
	}
	return buf[:n], nil
}

// noChildren tells whether this process has no child at all, dead or alive. It costs one system call.
func noChildren() bool {
	return unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil) == unix.ECHILD
}

// children lists the children of all threads of a process. A kernel without that list is asked about every process.
func children(pid int) []int {
	lists, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	if len(lists) == 0 {
		return childrenByParent(pid)
	}
	var found []int
	for _, list := range lists {
		text, _ := os.ReadFile(list) // the thread may have gone, and its children to another
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				found = append(found, child)
			}
		}
	}
	return found
}

func childrenByParent(pid int) []int {
	var found []int
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		child, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if p, ok := readProcess(child); ok && p.parent == pid {
			found = append(found, child)
		}
	}
	return found
}

// Identity tells the process pid from every other that will ever have this number, also after a reboot: it is the same
// as long as it is the same process. It is "" where there is no such process, or the system can't tell.
func Identity(pid int) string {
	p, ok := readProcess(pid)
	boot, err := readStat("/proc/sys/kernel/random/boot_id")
	if !ok || err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + ":" + strconv.FormatUint(p.start, 10)
}
