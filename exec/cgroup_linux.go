package exec

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Cgroup is this process's own cgroup of version 2, which systemd has delegated to it (Delegate=) with the controllers
// for memory and processes. Each limited command gets one of its own in it.
type Cgroup struct{ folder string }

// cellPrefix begins the names of commands' cgroups.
const cellPrefix = "command-"

// ownLeaf is where this process goes: a cgroup with controllers for its children may hold no processes itself.
const ownLeaf = "daemon"

// ownThreads are allowed to a command beyond its limit until the program between has become it: the kernel counts threads,
// and that program has some, however few the command may have.
const ownThreads = 256

// controllers have to be there.
func controllers() []string { return []string{"memory", "pids"} }

// ClaimCgroup makes this process's cgroup hold those of commands, and moves this process, which should have no children
// yet, into one beside them. Called again, also by a later process in the same place, it finds everything done. An error
// says why the kernel can't keep limits of commands here, and Run counts instead.
func ClaimCgroup() (*Cgroup, error) {
	folder, err := delegated()
	if err != nil {
		return nil, err
	}
	leaf := filepath.Join(folder, ownLeaf)
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("making a cgroup: %w", err)
	}
	if err := tell(leaf, "cgroup.procs", strconv.Itoa(os.Getpid())); err != nil {
		return nil, err
	}
	if err := tell(folder, "cgroup.subtree_control", "+"+strings.Join(controllers(), " +")); err != nil {
		return nil, err
	}
	c := &Cgroup{folder}
	c.sweep()
	return c, nil
}

// KernelKeepsLimits tells why the kernel can't keep the limits of commands where this process runs; nil: it can.
func KernelKeepsLimits() error {
	_, err := delegated()
	return err
}

// delegated is the cgroup that holds this process, or the one above where ClaimCgroup has moved it. It has to be ours to
// write: systemd gives it so where the unit says Delegate=.
func delegated() (string, error) {
	folder, err := ownCgroup()
	if err != nil {
		return "", err
	}
	if filepath.Base(folder) == ownLeaf {
		folder = filepath.Dir(folder)
	}
	offered, err := os.ReadFile(filepath.Join(folder, "cgroup.controllers"))
	if err != nil {
		return "", fmt.Errorf("reading what the cgroup offers: %w", err)
	}
	for _, want := range controllers() {
		if !slices.Contains(strings.Fields(string(offered)), want) {
			return "", fmt.Errorf("this process's cgroup has no controller `%s`", want)
		}
	}
	for _, name := range []string{".", "cgroup.procs", "cgroup.subtree_control"} {
		place := filepath.Join(folder, name)
		if err := unix.Access(place, unix.W_OK); err != nil {
			return "", fmt.Errorf("this process's cgroup is not delegated to it: %w", &fs.PathError{Op: "writing", Path: place, Err: err})
		}
	}
	// It came with Linux 5.14, later than all else that is needed.
	if _, err := os.Stat(filepath.Join(folder, "cgroup.kill")); err != nil {
		return "", fmt.Errorf("this kernel is too old: %w", err)
	}
	// What can be written need not be ours to change: all cgroups of a user manager's can.
	if marked(folder, "user.delegate") || marked(folder, "trusted.delegate") {
		return folder, nil
	}
	if err := promised(folder); err != nil {
		return "", err
	}
	return folder, nil
}

// ownCgroup is the folder of this process's cgroup of version 2. In /proc/self/cgroup its line begins with 0::, and in
// mountinfo the part behind the lone hyphen names the type; see cgroups(7) and proc_pid_mountinfo(5).
func ownCgroup() (string, error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", fmt.Errorf("finding this process's cgroup: %w", err)
	}
	own, found := "", false
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			own, found = rest, true
		}
	}
	if !found {
		return "", errors.New("this kernel runs without cgroups of version 2")
	}
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", fmt.Errorf("finding the mounted cgroups: %w", err)
	}
	defer mounts.Close()
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		before, behind, _ := strings.Cut(lines.Text(), " - ")
		fields := strings.Fields(before)
		if len(fields) < 5 || !strings.HasPrefix(behind, "cgroup2 ") {
			continue
		}
		below, err := filepath.Rel(fields[3], own) // what is mounted may be a part of the hierarchy
		if err == nil && filepath.IsLocal(below) {
			return filepath.Join(fields[4], below), nil
		}
	}
	return "", errors.New("no cgroups of version 2 are mounted here")
}

// sweep removes the cgroups of commands that an earlier process left; those that still hold processes stay.
func (c *Cgroup) sweep() {
	left, _ := filepath.Glob(filepath.Join(c.folder, cellPrefix+"*"))
	for _, folder := range left {
		_ = os.Remove(folder)
	}
}

// cell is the cgroup of one command.
type cell struct {
	folder string
	open   *os.File // into which the command is born
}

// enclose has what is started with attr be born in a cgroup with the limits that count for all of it; nil: there is none,
// and Run counts alone, as it does where a cgroup can't be made.
func (b Bounds) enclose(attr *os.ProcAttr) *cell {
	if b.Cgroup == nil || !b.Limits.counted() {
		return nil
	}
	limits := b.Limits
	if !b.empty() && limits.Processes > 0 {
		limits.Processes += ownThreads
	}
	x, err := b.Cgroup.cell(limits)
	if err != nil {
		return nil
	}
	attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, int(x.open.Fd())
	return x
}

// tighten takes back what the program between was given, when the command is there in its place.
func (x *cell) tighten(l Limits) {
	if x != nil && l.Processes > 0 {
		_ = tell(x.folder, "pids.max", strconv.FormatInt(l.Processes, 10)) // what is left otherwise is a limit, too
	}
}

// cell makes a cgroup with the limits.
func (c *Cgroup) cell(l Limits) (*cell, error) {
	folder := filepath.Join(c.folder, cellPrefix+rand.Text())
	if err := os.Mkdir(folder, 0o755); err != nil {
		return nil, fmt.Errorf("making a cgroup for the command: %w", err)
	}
	x := &cell{folder: folder}
	var err error
	if l.Memory > 0 {
		_ = tell(folder, "memory.swap.max", "0") // there may be no swap to account
		// The whole command goes, and not what the kernel likes least of it.
		err = errors.Join(tell(folder, "memory.oom.group", "1"), tell(folder, "memory.max", strconv.FormatInt(l.Memory, 10)))
	}
	if l.Processes > 0 {
		err = errors.Join(err, tell(folder, "pids.max", strconv.FormatInt(l.Processes, 10)))
	}
	if err == nil {
		x.open, err = os.Open(folder)
	}
	if err != nil {
		_ = os.Remove(folder)
		return nil, err
	}
	return x, nil
}

// excess tells what the kernel has refused to the command.
func (x *cell) excess(l Limits) *excess {
	switch {
	case x == nil:
	case x.happened("pids.events", "max"):
		return &excess{"pids", fmt.Sprintf("it had more than the %d processes and threads of `pids`", l.Processes)}
	case x.happened("memory.events", "oom_kill"):
		return &excess{"memory", fmt.Sprintf("it needed more than the %d MiB of `memory`", l.Memory>>20)}
	}
	return nil
}

// happened tells whether an event of the cgroup was counted.
func (x *cell) happened(file, event string) bool {
	text, _ := os.ReadFile(filepath.Join(x.folder, file))
	for line := range bytes.Lines(text) {
		if fields := bytes.Fields(line); len(fields) == 2 && string(fields[0]) == event {
			return string(fields[1]) != "0"
		}
	}
	return false
}

// kill ends everything in the cgroup at once, whatever is born meanwhile.
func (x *cell) kill() {
	if x != nil {
		_ = tell(x.folder, "cgroup.kill", "1") // without it the signals do, as everywhere
	}
}

// remove removes the cgroup. What was killed takes a moment to leave it; what can't be removed is left to the next sweep.
func (x *cell) remove() {
	if x == nil {
		return
	}
	x.open.Close()
	limit := time.Now().Add(lastWords)
	for errors.Is(os.Remove(x.folder), syscall.EBUSY) && time.Now().Before(limit) {
		time.Sleep(time.Millisecond)
	}
}

// tell writes one value to a file of a cgroup.
func tell(folder, file, value string) error {
	if err := os.WriteFile(filepath.Join(folder, file), []byte(value), 0); err != nil {
		return fmt.Errorf("setting up a cgroup: %w", err)
	}
	return nil
}
