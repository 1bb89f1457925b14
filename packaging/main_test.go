package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// epoch is the time in the files of the tests' builds, whose trees need not be repositories.
var epoch = time.Unix(1_750_000_000, 0).UTC()

// here are this tree's builds for linux/amd64, one a version; what is built is removed when the tests end.
var here = &builds{made: map[string]func() (string, error){}}

type builds struct {
	mu     sync.Mutex
	folder string
	made   map[string]func() (string, error)
}

// of gives the folder with everything of one version.
func (b *builds) of(t *testing.T, version string) string {
	t.Helper()
	b.mu.Lock()
	build, ok := b.made[version]
	if !ok {
		build = sync.OnceValues(func() (string, error) {
			out := filepath.Join(b.folder, version)
			r := release{root: filepath.Dir(mustDir()), version: version, when: epoch, out: out}
			_, err := r.build(context.Background(), []string{"linux/amd64"})
			return out, err
		})
		b.made[version] = build
	}
	b.mu.Unlock()
	out, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func mustDir() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return dir
}

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "runner-packages-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	here.folder = folder
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// missing skips the test because a real component is not there, and fails it where all have to be.
func missing(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("RUNNER_TEST_REQUIRE") == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// asRoot skips the test of an ordinary user.
func asRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("this test is root's")
	}
}
