package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkMirrorOfUnchangedFiles measures a round over 50,000 unchanged files against a bare walk that asks for the
// state of every file on both sides, which is the least that can tell whether one has changed.
func BenchmarkMirrorOfUnchangedFiles(b *testing.B) {
	const many = 50_000
	files := make([]string, many)
	for i := range files {
		files[i] = fmt.Sprintf("src/package%03d/part%d/file%05d.go", i/200, i/50%4, i)
	}
	m, _ := mirrored(b, files...)
	m.settling = 1
	syncs(b, m, many, 0, 0)
	var mirror, bare time.Duration
	for b.Loop() {
		begun := time.Now()
		got, err := m.Sync(context.Background())
		if mirror += time.Since(begun); err != nil || got.Skipped != many || got.Compared != 0 {
			b.Fatalf("%+v, %v", got, err)
		}
		begun = time.Now()
		if n := walk(b, m.Root) + walk(b, m.Destination); n != 2*many {
			b.Fatal(n)
		}
		bare += time.Since(begun)
	}
	b.ReportMetric(float64(mirror)/float64(bare), "x-of-stat-walk")
	b.ReportMetric(float64(mirror.Milliseconds())/float64(b.N), "ms/round")
}

// walk asks for the state of every file below dir, and counts them.
func walk(b *testing.B, dir string) (files int) {
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		_, err = d.Info()
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return files
}
