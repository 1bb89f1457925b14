//go:build unix

package exec

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
)

// seat is a person in front of a terminal: what was typed goes in, what comes out is on a screen.
type seat struct {
	*Terminal
	line io.ReadWriter // the terminal, or a bare one
	dir  string

	mu     sync.Mutex // guards what follows
	screen vt10x.Terminal
	raw    bytes.Buffer
	eof    bool
	news   chan struct{} // holds one token when something came
}

// plainHome is a home folder whose login shell has a plain prompt and keeps no history.
func plainHome(t testing.TB) string {
	t.Helper()
	home := t.TempDir()
	profile := "PS1='$ '; unset HISTFILE PROMPT_COMMAND\nbind 'set enable-bracketed-paste off'\n"
	if err := os.WriteFile(filepath.Join(home, ".bash_profile"), []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

func terminalOptions(t testing.TB) TerminalOptions {
	t.Helper()
	shell := systemBash(t).Path
	inherited := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + plainHome(t), "LINES=3", "TERMINFO=/nowhere"}
	env, err := TerminalEnvironment(inherited, nil, shell)
	if err != nil {
		t.Fatal(err)
	}
	return TerminalOptions{Shell: shell, Dir: t.TempDir(), Env: env, Cols: 80, Rows: 24}
}

// sit opens a terminal, reads all that comes, and closes it after the test. change adapts its options.
func sit(t testing.TB, change ...func(*TerminalOptions)) *seat {
	t.Helper()
	o := terminalOptions(t)
	for _, c := range change {
		c(&o)
	}
	terminal, err := OpenTerminal(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	s := newSeat(t, o, terminal, func() { terminal.Close() })
	s.Terminal = terminal
	return s
}

// sitBare is sit at a pseudo terminal with nothing of ours in between.
func sitBare(t testing.TB, change ...func(*TerminalOptions)) *seat {
	t.Helper()
	o := terminalOptions(t)
	for _, c := range change {
		c(&o)
	}
	shell := exec.Command(o.Shell)
	shell.Args, shell.Dir, shell.Env = []string{"-bash"}, o.Dir, commandEnv(o.Env, o.Dir)
	master, err := pty.StartWithSize(shell, &pty.Winsize{Cols: uint16(o.Cols), Rows: uint16(o.Rows)})
	if err != nil {
		t.Fatal(err)
	}
	return newSeat(t, o, master, func() {
		_ = shell.Process.Signal(syscall.SIGHUP) // which it passes on to its jobs
		_ = shell.Wait()
		master.Close()
	})
}

func newSeat(t testing.TB, o TerminalOptions, line io.ReadWriter, end func()) *seat {
	s := &seat{
		line: line, dir: o.Dir, news: make(chan struct{}, 1),
		screen: vt10x.New(vt10x.WithSize(o.Cols, o.Rows), vt10x.WithWriter(io.Discard)),
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.watch()
	}()
	t.Cleanup(func() {
		end()
		<-read
	})
	return s
}

func (s *seat) watch() {
	piece := make([]byte, 32<<10)
	for {
		n, err := s.line.Read(piece)
		s.mu.Lock()
		s.raw.Write(piece[:n])
		_, _ = s.screen.Write(piece[:n]) // it takes everything
		s.eof = err != nil
		s.mu.Unlock()
		select {
		case s.news <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// types hands text to the terminal.
func (s *seat) types(t testing.TB, text string) {
	t.Helper()
	if _, err := io.WriteString(s.line, text); err != nil {
		t.Fatal(err)
	}
}

// waits until what is there satisfies ok.
func (s *seat) waits(t testing.TB, what string, ok func() bool) {
	t.Helper()
	limit := time.After(60 * time.Second)
	for {
		s.mu.Lock()
		satisfied := ok()
		s.mu.Unlock()
		if satisfied {
			return
		}
		select {
		case <-s.news:
		case <-limit:
			t.Fatalf("%s did not come; the screen:\n%s", what, s.shows())
		}
	}
}

// sees waits until text stands on the screen.
func (s *seat) sees(t testing.TB, text string) {
	t.Helper()
	s.waits(t, text, func() bool { return strings.Contains(lines(s.screen), text) })
}

// ends waits for the end of the output and gives all of it.
func (s *seat) ends(t testing.TB) string {
	t.Helper()
	s.waits(t, "the end", func() bool { return s.eof })
	return s.raw.String()
}

// shows is the screen now.
func (s *seat) shows() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return lines(s.screen)
}

// lines is a screen without the blanks at the ends of its lines.
func lines(screen vt10x.Terminal) string {
	all := strings.Split(screen.String(), "\n")
	for i := range all {
		all[i] = strings.TrimRight(all[i], " ")
	}
	return strings.TrimRight(strings.Join(all, "\n"), "\n")
}

// waitForText waits until a file of the terminal's folder has a line, and gives its words.
func (s *seat) waitForText(t testing.TB, name string) []string {
	t.Helper()
	for limit := time.Now().Add(60 * time.Second); time.Now().Before(limit); time.Sleep(5 * time.Millisecond) {
		text, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if bytes.HasSuffix(text, []byte("\n")) {
			return strings.Fields(string(text))
		}
	}
	t.Fatalf("%s was not written; the screen:\n%s", name, s.shows())
	return nil
}

// settled gives the screen once the program has painted all of it: it is asked something after that, and what it did
// before it answers is on the screen.
func (s *seat) settled(t testing.TB, program string) string {
	t.Helper()
	switch program {
	case "less":
		s.types(t, "=")
		s.sees(t, "38692/38692")
	case "vim":
		s.types(t, ":set helpheight?\r")
		s.sees(t, "helpheight=")
	case "bash":
		s.types(t, "echo set''tled\n")
		s.sees(t, "\nsettled\n$")
	}
	return s.shows()
}
