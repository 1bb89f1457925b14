package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
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

// bareListener is a program that listens on loopback as the daemon and the hub do, and does nothing else.
const bareListener = `package main

import (
	"net"
	"net/http"
	"os"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(1)
	}
	os.Stdout.WriteString("listening\n")
	_ = http.Serve(l, nil)
}
`

// bareKiB is what bareListener has in memory when it is idle: the floor of a Go program that serves HTTP.
func bareKiB(b *testing.B) float64 {
	b.Helper()
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(bareListener), 0o600); err != nil {
		b.Fatal(err)
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(dir, "bare"), filepath.Join(dir, "main.go"))
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(filepath.Join(dir, "bare"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }() // it was killed
	defer func() { _ = cmd.Process.Kill() }()
	if _, err := io.ReadFull(out, make([]byte, len("listening\n"))); err != nil {
		b.Fatal(err)
	}
	time.Sleep(idleAfter)
	return residentKiB(b, cmd.Process.Pid)
}

// idleAfter is when a daemon counts as idle: it has given back by then what its start needed.
const idleAfter = startupTakes + time.Second

// BenchmarkRun starts the released binary against a hub on loopback, for one project. Goals: joined within 100 ms of
// its start, under 20 MB resident when idle, and a stripped binary under 30 MiB. The floor is the same binary saying its
// version: what a Go program of this size costs before it does anything. That of the memory is a Go program that
// listens and does nothing.
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
	b.ReportMetric(middle(resident)*1024/bareKiB(b), "x-bare")
}

func middle(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
