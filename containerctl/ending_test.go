package containerctl

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// awkward are commands whose processes are hard to end. Each says "ready" once all of them are there.
var awkward = []struct{ name, text string }{
	{"a plain one", "echo ready; sleep 600"},
	{"one that ignores TERM", "trap '' TERM; echo ready; while :; do sleep 1; done"},
	{"a child that ignores TERM", "sh -c \"trap '' TERM; echo ready; while :; do sleep 1; done\""},
	{"one that forks", "sh -c 'sleep 600 & sleep 600 & sleep 600 & echo ready; wait'"},
	{"a session of its own", "setsid sh -c 'echo ready; exec sleep 600'; sleep 600"},
	{"a daemon with an empty environment and no descriptors",
		"env -i setsid sh -c 'exec sleep 600 </dev/null >/dev/null 2>&1' & echo ready; sleep 600"},
	{"a daemon whose parents are gone",
		"(setsid sh -c \"trap '' TERM HUP; (while :; do sleep 1; done) & (exec sleep 600) &\" &) ; echo ready; sleep 600"},
	{"a shell that kills its own watcher", "setsid sleep 600 & echo ready; kill -9 $PPID; sleep 600"},
	{"one that keeps forking", "f() { sleep 0.3 & sleep 0.01; }; echo ready; trap '' TERM; while :; do f; done"},
}

// left counts the processes in a container beside its init, its sleep, and what counts.
func (b *bed) left(t *testing.T, container string) string {
	t.Helper()
	return b.must(t, container, "", `for d in /proc/[0-9]*; do
		p=${d#/proc/}; [ $p = $$ ] && continue; [ $p = $PPID ] && continue
		c=$( { tr '\0' ' ' <$d/cmdline; } 2>/dev/null) || continue
		case $c in ''|*init*|'sleep infinity '|catatonit*|'tr '*|'/bin/sh ') continue;; esac
		echo "$p $c"
	done`)
}

func testEndings(t *testing.T, b *bed) {
	_, c, _ := b.up(t)
	for _, tc := range awkward {
		for _, how := range []string{"cancel", "deadline"} {
			t.Run(tc.name+", "+how, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var mu sync.Mutex
				var out bytes.Buffer
				cmd := ExecCommand{Container: c.ID, Text: tc.text, Grace: 300 * time.Millisecond, Output: writerFunc(func(p []byte) (int, error) {
					mu.Lock()
					defer mu.Unlock()
					out.Write(p)
					if how == "cancel" && bytes.Contains(out.Bytes(), []byte("ready")) {
						cancel()
					}
					return len(p), nil
				})}
				if how == "deadline" {
					cmd.Deadline = time.Now().Add(3 * time.Second)
				}
				r, err := b.Exec(ctx, cmd)
				if !strings.HasPrefix(out.String(), "ready") {
					t.Fatalf("it was not there before it was ended: %+v, %v, %q", r, err, out.String())
				}
				switch {
				case strings.Contains(tc.name, "watcher") && failure.Is(err, failure.KilledBySignal):
					// It was noticed before there was a reason to end it.
				case how == "cancel":
					failuretest.Produced(t, err, failure.Cancelled)
				default:
					failuretest.Produced(t, err, failure.TimedOut)
				}
				if r.ExitCode != -1 || r.Note != "" {
					t.Errorf("%+v", r)
				}
				if rest := b.left(t, c.ID); rest != "" {
					t.Errorf("still there:\n%s", rest)
				}
			})
		}
	}
}

func testGrace(t *testing.T, b *bed) {
	_, c, _ := b.up(t)
	var out bytes.Buffer
	r, err := b.Exec(t.Context(), ExecCommand{Container: c.ID, Output: &out, Deadline: time.Now().Add(8 * time.Second), Grace: time.Hour,
		Text: "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.1; done"})
	failuretest.Produced(t, err, failure.TimedOut)
	if !strings.HasSuffix(out.String(), "bye\n") || r.Left != 0 || !r.TimedOut {
		t.Errorf("what ends by itself is not left alone: %+v, %q", r, out.String())
	}
}

func testLeftBehind(t *testing.T, b *bed) {
	_, c, _ := b.up(t)
	for _, text := range []string{
		"sleep 600 & sleep 600 & echo done; exit 7",
		"(env -i setsid sleep 600 </dev/null >/dev/null 2>&1 &) ; (setsid sh -c \"trap '' TERM; sleep 600\" &); echo done; exit 7",
	} {
		r, out := b.run(t, c.ID, text)
		if r.ExitCode != 7 || out != "done\n" || r.Left < 2 {
			t.Errorf("%s: %+v, %q", text, r, out)
		}
		if rest := b.left(t, c.ID); rest != "" {
			t.Errorf("still there:\n%s", rest)
		}
	}
}

// A command is ended while others run beside it; they must not notice.
func testNeighbours(t *testing.T, b *bed) {
	_, c, _ := b.up(t)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			var out bytes.Buffer
			r, err := b.Exec(t.Context(), ExecCommand{Container: c.ID, Output: &out,
				Text: fmt.Sprintf("for i in 1 2 3 4 5 6; do sleep 0.3; done & wait; echo end; exit %d", i)})
			if err != nil || r.ExitCode != i || out.String() != "end\n" {
				t.Errorf("%+v, %v, %q", r, err, out.String())
			}
		})
		wg.Go(func() {
			_, err := b.Exec(t.Context(), ExecCommand{Container: c.ID, Text: "trap '' TERM; while :; do sleep 1; done",
				Deadline: time.Now().Add(time.Second), Grace: 100 * time.Millisecond})
			failuretest.Produced(t, err, failure.TimedOut)
		})
	}
	wg.Wait()
	if rest := b.left(t, c.ID); rest != "" {
		t.Errorf("still there:\n%s", rest)
	}
}

// Where the pids limit is reached there may be no room for the shell that ends commands.
func testFull(t *testing.T, b *bed) {
	if b.Facts().NoPidsLimit {
		t.Skip("this engine can't limit processes")
	}
	s, root := b.spec(t), t.TempDir()
	s.Pids = 16
	c, err := b.Start(t.Context(), s, StartOptions{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.Exec(t.Context(), ExecCommand{Container: c.ID, Deadline: time.Now().Add(3 * time.Second), Grace: 100 * time.Millisecond,
		Text: "f() { f & f & sleep 600; }; trap '' TERM; f 2>/dev/null"})
	t.Logf("%+v, %v", r, err)
	poll(t, "room for a command", func() bool {
		r, err := b.Exec(t.Context(), ExecCommand{Container: c.ID, Text: "true"})
		return err == nil && r.ExitCode == 0
	})
	if rest := b.left(t, c.ID); rest != "" {
		t.Errorf("still there:\n%s", rest)
	}
}

// What a daemon that died has left running is ended by the next one.
func testEndCommands(t *testing.T, b *bed) {
	_, c, _ := b.up(t)
	first := discover(t, b.Address())
	ready := make(chan struct{})
	done := make(chan error, 1)
	var once sync.Once
	go func() {
		_, err := first.Exec(t.Context(), ExecCommand{Container: c.ID, Text: "trap '' TERM; setsid sleep 600 & echo ready; sleep 600",
			Output: writerFunc(func(p []byte) (int, error) { once.Do(func() { close(ready) }); return len(p), nil })})
		done <- err
	}()
	<-ready
	n, err := b.EndCommands(t.Context(), c.ID)
	if err != nil || n < 3 {
		t.Errorf("ended %d, %v", n, err)
	}
	failuretest.Produced(t, <-done, failure.KilledBySignal)
	if n, err := b.EndCommands(t.Context(), c.ID); n != 0 || err != nil {
		t.Errorf("again: %d, %v", n, err)
	}
	if rest := b.left(t, c.ID); rest != "" {
		t.Errorf("still there:\n%s", rest)
	}
	if n, err := b.EndCommands(t.Context(), "brabo-absent"); n != 0 || err != nil {
		t.Errorf("in an absent container: %d, %v", n, err)
	}
}

// A worker that waits for commands ends with its daemon's connection, and with its container's stop.
func testWorkersEnd(t *testing.T, b *bed) {
	s, c, _ := b.up(t)
	count := func() string {
		var out bytes.Buffer
		if _, err := b.Exec(t.Context(), ExecCommand{Container: c.ID, Output: &out, ownExec: true,
			Text: `n=0; for d in /proc/[0-9]*; do { case $(tr '\0' ' ' <$d/cmdline) in "/bin/sh ") n=$((n+1)); esac; } 2>/dev/null; done; echo $n`}); err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out.String())
	}
	other := discover(t, b.Address())
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if r, err := other.Exec(t.Context(), ExecCommand{Container: c.ID, Text: "sleep 0.5; exit 9"}); err != nil || r.ExitCode != 9 {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	wg.Wait()
	poll(t, "all but two workers to end", func() bool { return count() == "2" })
	other.Close()
	poll(t, "the workers to end with their daemon", func() bool { return count() == "0" })
	b.run(t, c.ID, "true")
	if n := count(); n != "1" {
		t.Errorf("%s workers", n)
	}
	if err := b.Stop(t.Context(), s.WorkspaceDirName); err != nil {
		t.Fatal(err)
	}
	_, err := b.Exec(t.Context(), ExecCommand{Container: c.ID, Text: "true"})
	failuretest.Produced(t, err, failure.ContainerGone)
}
