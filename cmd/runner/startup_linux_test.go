package main

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// programRSS is how many KiB of the test's own program are in memory, and how many there are.
func programRSS(t *testing.T) (resident, size int) {
	t.Helper()
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	inside := false
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var kib int
		switch line := lines.Text(); {
		case strings.HasSuffix(line, " "+path):
			inside = readOnlyArea(line).size > 0
		case inside && strings.HasPrefix(line, "Size:"):
			_, _ = fmt.Sscanf(line, "Size: %d", &kib)
			size += kib
		case inside && strings.HasPrefix(line, "Rss:"):
			_, _ = fmt.Sscanf(line, "Rss: %d", &kib)
			resident += kib
			inside = false
		}
	}
	return resident, size
}

// readProgram maps each page of the program, and gives a sum of what stands in them.
func readProgram(t *testing.T) [sha256.Size]byte {
	t.Helper()
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	for line := range strings.Lines(string(maps)) {
		if line = strings.TrimSuffix(line, "\n"); strings.HasSuffix(line, " "+path) {
			area := readOnlyArea(line)
			if area.size == 0 {
				continue
			}
			piece := make([]byte, area.size)
			local := []unix.Iovec{{Base: &piece[0], Len: uint64(len(piece))}}
			// /proc/self/mem is closed to this process once it hides its memory.
			n, err := unix.ProcessVMReadv(os.Getpid(), local, []unix.RemoteIovec{{Base: area.from, Len: len(piece)}}, 0)
			if err != nil || n != len(piece) {
				t.Fatalf("%d of %d bytes: %v", n, len(piece), err)
			}
			sum.Write(piece)
		}
	}
	return [sha256.Size]byte(sum.Sum(nil))
}

func TestTheProgramOfAStartLeavesMemory(t *testing.T) {
	before := readProgram(t)
	all, size := programRSS(t)
	if size == 0 || all < size/2 {
		t.Fatalf("%d of %d KiB are in memory after each page was read", all, size)
	}
	if err := unmapProgram(); err != nil {
		t.Fatal(err)
	}
	if left, _ := programRSS(t); left > all*3/4 {
		t.Errorf("%d of %d KiB stay in memory", left, all)
	}
	if after := readProgram(t); after != before {
		t.Error("the program is another one now")
	}
}
