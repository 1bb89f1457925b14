package containerctl

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// window shows a terminal in a test.
type window struct {
	*Terminal
	close context.CancelFunc

	mu  sync.Mutex // guards what follows
	out strings.Builder
	eof bool
}

func (b *bed) window(t *testing.T, container string) *window {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	terminal, err := b.OpenTerminal(ctx, TerminalOptions{Container: container, Cols: 100, Rows: 30, Umask: "027", Grace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	w := &window{Terminal: terminal, close: cancel}
	done := make(chan struct{})
	go func() {
		defer close(done)
		piece := make([]byte, 4096)
		for {
			n, err := terminal.Read(piece)
			w.mu.Lock()
			w.out.Write(piece[:n])
			w.eof = err != nil
			w.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { cancel(); terminal.Wait(); <-done })
	return w
}

func (w *window) types(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
}

func (w *window) sees(t *testing.T, text string) {
	t.Helper()
	poll(t, text, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return strings.Contains(w.out.String(), text)
	})
}

func testTerminal(t *testing.T, b *bed) {
	_, c, _ := b.up(t)
	t.Run("a shell in the folder", func(t *testing.T) {
		w := b.window(t, c.ID)
		sized := func(size string) string { // an engine may take its time to tell it
			return "until [ \"$(stty size)\" = '" + size + "' ]; do sleep 0.1; done; echo si''zed " + size + "; "
		}
		w.types(t, "pwd; umask; echo $TERM; "+sized("30 100")+"test -t 0 && echo terminal''s\n")
		for _, want := range []string{"\n/work\r\n", "\n0027\r\n", "\nxterm-256color\r\n", "\nsized 30 100\r\n", "terminals\r\n"} {
			w.sees(t, want)
		}
		if err := w.Resize(70, 20); err != nil {
			t.Error(err)
		}
		w.types(t, sized("20 70")+"printf '\\303\\251\\377\\376'\n")
		w.sees(t, "\nsized 20 70\r\n\xc3\xa9\xff\xfe")
		w.types(t, "exit 7\n")
		if exit := w.Wait(); exit != (TerminalExit{ExitCode: 7}) {
			t.Errorf("%+v", exit)
		}
	})
	for _, a := range awkward {
		t.Run("closed over "+a.name, func(t *testing.T) {
			w := b.window(t, c.ID)
			w.types(t, strings.Replace(a.text, "echo ready", "echo rea''dy", 1)+"\n")
			if a.name == "a child that ignores TERM" || strings.HasPrefix(a.name, "a daemon whose") {
				w.sees(t, "rea") // its text stands in quotes
			}
			w.sees(t, "ready")
			w.close()
			w.Wait()
			if left := b.left(t, c.ID); left != "" {
				t.Errorf("left: %s", left)
			}
		})
	}
	t.Run("a shell that leaves something behind", func(t *testing.T) {
		w := b.window(t, c.ID)
		w.types(t, "(trap '' HUP; exec sleep 600) &\nexit 4\n")
		if exit := w.Wait(); exit.ExitCode != 4 || exit.Left != 1 {
			t.Errorf("%+v", exit)
		}
		if left := b.left(t, c.ID); left != "" {
			t.Errorf("left: %s", left)
		}
	})
	t.Run("a flood that nobody reads", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		terminal, err := b.OpenTerminal(ctx, TerminalOptions{Container: c.ID, Cols: 80, Rows: 24, Grace: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(terminal, "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(terminal, make([]byte, 10_000)); err != nil {
			t.Fatal(err)
		}
		cancel()
		terminal.Wait()
		if _, err := terminal.Read(make([]byte, 1)); err != io.EOF {
			t.Error(err)
		}
		if left := b.left(t, c.ID); left != "" {
			t.Errorf("left: %s", left)
		}
	})
	t.Run("a container that does not run", func(t *testing.T) {
		_, err := b.OpenTerminal(t.Context(), TerminalOptions{Container: "no-such-container", Cols: 80, Rows: 24})
		failuretest.Produced(t, err, failure.ContainerGone)
	})
}
