package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// unmapProgram lets go of the pages of this program's file. What runs on is mapped again from the system's cache when it
// is touched next. The kernel maps a file in large pieces around each page that is touched, so that a start, which runs a
// little of everything, has nearly all of it mapped, and none is ever let go where memory is not short.
func unmapProgram() error {
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		return err
	}
	defer file.Close()
	var errs []error
	var area span
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		switch {
		case strings.HasSuffix(line, " "+path):
			area = readOnlyArea(line)
		case area.size > 0 && strings.Join(strings.Fields(line), " ") == "Anonymous: 0 kB":
			// None of its pages differs from the file's, as one would where a loader has moved the program.
			if _, _, errno := unix.Syscall(unix.SYS_MADVISE, area.from, area.size, unix.MADV_DONTNEED); errno != 0 {
				errs = append(errs, os.NewSyscallError("madvise", errno))
			}
			area = span{}
		}
	}
	return errors.Join(errs...)
}

// span is a piece of this process's memory.
type span struct{ from, size uintptr }

// readOnlyArea is the memory that a line of /proc/self/smaps begins to tell of; empty where it can be written to.
func readOnlyArea(line string) span {
	var from, to uintptr
	var mode string
	if n, _ := fmt.Sscanf(line, "%x-%x %s ", &from, &to, &mode); n != 3 || to <= from || mode[1] != '-' {
		return span{}
	}
	return span{from, to - from}
}
