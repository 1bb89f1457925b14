package main

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
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
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	sum := sha256.New()
	for line := range strings.Lines(string(maps)) {
		if line = strings.TrimSuffix(line, "\n"); strings.HasSuffix(line, " "+path) {
			area := readOnlyArea(line)
			if _, err := io.Copy(sum, io.NewSectionReader(memory, int64(area.from), int64(area.size))); err != nil {
				t.Fatal(err)
			}
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
