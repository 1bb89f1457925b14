package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// swapping exchanges the folder at path with a link to target, again and again until it is stopped. The exchange is
// one step of the file system, so that there is always one of the two.
func swapping(t *testing.T, path, target string) (stop func()) {
	t.Helper()
	other := link(t, target, path+".link")
	done, ended := make(chan struct{}), make(chan struct{})
	swap := func() bool {
		return unix.Renameat2(unix.AT_FDCWD, path, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE) == nil
	}
	for range 2 { // there and back
		if !swap() {
			t.Skip("this file system can't exchange two names")
		}
	}
	go func() {
		defer close(ended)
		for odd := false; ; odd = !odd {
			select {
			case <-done:
				if odd {
					swap()
				}
				return
			default:
				swap()
				runtime.Gosched()
			}
		}
	}()
	return func() { close(done); <-ended }
}

func TestListIsNotLedOutByALinkMadeMeanwhile(t *testing.T) {
	top := realTemp(t)
	home, secret := mkdir(t, top, "home"), mkdir(t, top, "secret")
	writeFile(t, secret, "secret")
	mkdir(t, home, "dir")
	stop := swapping(t, filepath.Join(home, "dir"), secret)
	defer stop()
	for range 3000 {
		got, _ := List(t.Context(), filepath.Join(home, "dir"), Browse{Home: home})
		if len(got.Entries) > 0 {
			t.Fatalf("led out to %v", got.Entries)
		}
	}
}

// TestWriteFileIsNotLedByALinkMadeMeanwhile swaps a folder on the way for a link that leads out, or elsewhere inside.
func TestWriteFileIsNotLedByALinkMadeMeanwhile(t *testing.T) {
	top := realTemp(t)
	root, out := mkdir(t, top, "root"), mkdir(t, top, "out")
	inside := mkdir(t, root, "inside")
	for name, target := range map[string]string{"a": out, "b": inside} {
		mkdir(t, root, name)
		stop := swapping(t, filepath.Join(root, name), target)
		refused := 0
		for range 300 {
			if _, err := WriteFile(t.Context(), root, Write{Path: name + "/x", Content: []byte("new")}); err != nil {
				refused++
			}
		}
		stop()
		if got := sketch(t, target); got != "" {
			t.Errorf("led to %s:\n%s", target, got)
		}
		t.Logf("%d of 300 refused", refused)
	}
}

// TestMirrorIsNotLedByALinkMadeMeanwhile swaps a folder on either side for a link that leads out.
func TestMirrorIsNotLedByALinkMadeMeanwhile(t *testing.T) {
	m, home := mirrored(t, "a/file", "b/file")
	out := mkdir(t, filepath.Dir(home), "out")
	put(t, filepath.Join(out, "file"), "secret")
	syncs(t, m, 2, 0, 0)
	defer swapping(t, filepath.Join(m.Root, "a"), out)()
	defer swapping(t, filepath.Join(m.Destination, "b"), out)()
	defer swapping(t, m.Destination, out)()
	for i := range 500 {
		put(t, filepath.Join(m.Root, "b", "file"), fmt.Sprintf("round %d", i))
		_, _ = m.Sync(t.Context())
		if got := sketch(t, out); got != "file: secret\n" {
			t.Fatalf("written outside:\n%s", got)
		}
		if data, err := os.ReadFile(filepath.Join(m.Destination, "a", "file")); err == nil && string(data) == "secret" {
			t.Fatal("read from outside")
		}
	}
}
