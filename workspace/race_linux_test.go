package workspace

import (
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
	if !swap() || !swap() {
		t.Skip("this file system can't exchange two names")
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
