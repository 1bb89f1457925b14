//go:build unix

package exec

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// Runs real bash, by turns through Run and through os/exec alone: times_bare is what our care costs. The goal is at
// most 1.25.
func BenchmarkRunOfTrue(b *testing.B) {
	c := command(b, `true`)
	var ours, bare time.Duration
	for b.Loop() {
		begun := time.Now()
		if res := Run(context.Background(), c); res.ExitCode != 0 {
			b.Fatal(res.Failure)
		}
		between := time.Now()
		cmd := exec.Command(c.Shell.Path, append(c.Shell.Args, c.Text)...)
		cmd.Dir, cmd.Env = c.Dir, c.Env
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		ours += between.Sub(begun)
		bare += time.Since(between)
	}
	b.ReportMetric(float64(ours)/float64(bare), "times_bare")
}

// Runs real bash and head: one GiB through Run and through a bare reader of the same pipe. drain_rate is ours in parts
// of the bare one, at least 0.5; growth_MiB is what the process asked of the system meanwhile, less than 8.
func BenchmarkDrainOfAGiB(b *testing.B) {
	const size = 1 << 30
	for name, text := range map[string]string{
		"zeros": `head -c 1073741824 /dev/zero`,
		"lines": `yes 'a line as programs print them, with an accent: ação' | head -c 1073741824`,
	} {
		b.Run(name, func(b *testing.B) {
			c := command(b, text)
			c.SpoolDir, c.SpoolName, c.SpoolLimit = b.TempDir(), "spool", 16<<20
			var ours, bare time.Duration
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for b.Loop() {
				begun := time.Now()
				if res := Run(context.Background(), c); res.Total != size {
					b.Fatalf("%d bytes came, %v", res.Total, res.Failure)
				}
				ours += time.Since(begun)
				bare += drainBare(b, c, size)
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(bare)/float64(ours), "drain_rate")
			b.ReportMetric(float64(after.Sys-before.Sys)/(1<<20), "growth_MiB")
		})
	}
}

// drainBare is the time that nothing but reading takes.
func drainBare(b *testing.B, c Command, size int64) time.Duration {
	b.Helper()
	begun := time.Now()
	cmd := exec.Command(c.Shell.Path, append(c.Shell.Args, c.Text)...)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, pumpBuffer)
	var total int64
	for {
		n, err := pipe.(*os.File).Read(buf)
		total += int64(n)
		if err == io.EOF {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil || total != size {
		b.Fatalf("%d bytes, %v", total, err)
	}
	return time.Since(begun)
}
