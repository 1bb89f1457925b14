package main

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// BenchmarkDemo plays the demonstration with the released binary. Goal: under 15 s.
func BenchmarkDemo(b *testing.B) {
	binary, home := buildBinary(b), b.TempDir()
	var took []float64
	for b.Loop() {
		cmd := exec.Command(binary, "demo", "--json")
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		took = append(took, time.Since(began).Seconds())
	}
	b.ReportMetric(middle(took), "s-to-end")
}
