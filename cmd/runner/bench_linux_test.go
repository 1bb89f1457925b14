package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"
)

// buildBinary makes the binary as it is released, and gives its path.
func buildBinary(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "runner")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return path
}

// residentKiB is VmRSS of a process.
func residentKiB(b *testing.B, pid int) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, found := bytes.Cut(status, []byte("VmRSS:"))
	var kib float64
	if _, err := fmt.Sscan(string(rest), &kib); err != nil || !found {
		b.Fatal(err)
	}
	return kib
}

// idleAfter is when a daemon counts as idle: it has given back by then what its start needed.
const idleAfter = startupTakes + time.Second

// BenchmarkRun starts the released binary against a hub on loopback, for one project. Goals: joined within 100 ms of
// its start, under 20 MB resident when idle, and a stripped binary under 30 MiB. The floor is the same binary saying its
// version: what a Go program of this size costs before it does anything.
func BenchmarkRun(b *testing.B) {
	binary := buildBinary(b)
	home := b.TempDir()
	h, url, root, _ := startHub(b, home)
	var joined, floor, resident []float64
	for b.Loop() {
		began := time.Now()
		if out, err := exec.Command(binary, "version").CombinedOutput(); err != nil {
			b.Fatal(err, out)
		}
		floor = append(floor, float64(time.Since(began).Microseconds())/1000)

		cmd := exec.Command(binary, "run", "--project", "p", "--dir", root, "--api-url", url)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "BRABO_ACCOUNT_TOKEN=" + testToken}
		began = time.Now()
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		if err := h.WaitRunner(ctx, "p"); err != nil {
			b.Fatal(err)
		}
		cancel()
		joined = append(joined, float64(time.Since(began).Microseconds())/1000)
		time.Sleep(idleAfter)
		resident = append(resident, residentKiB(b, cmd.Process.Pid)/1024)
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			b.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		for h.RunnerConnected("p") {
			runtime.Gosched() // the next round's runner would be refused as the second one
		}
	}
	if info, err := os.Stat(binary); err == nil {
		b.ReportMetric(float64(info.Size())/(1<<20), "MiB-binary")
	}
	b.ReportMetric(middle(joined), "ms-to-joined")
	b.ReportMetric(middle(joined)/middle(floor), "ratio")
	b.ReportMetric(middle(resident), "MiB-resident")
}

func middle(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
