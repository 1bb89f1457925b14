//go:build unix

package runner

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"fmt"
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

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// needsProgram skips a test without a program that `.ci/run prepare` installs.
func needsProgram(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err == nil {
		return
	}
	if os.Getenv("RUNNER_TEST_REQUIRE") == "1" {
		t.Fatalf("%s is not installed", name)
	}
	t.Skipf("%s is not installed", name)
}

// onScreen is what a screen of 80 by 24 shows after the bytes, without the blanks at the ends of lines.
func onScreen(out []byte) string {
	screen := vt10x.New(vt10x.WithSize(80, 24))
	_, _ = screen.Write(out) // it takes everything
	all := strings.Split(screen.String(), "\n")
	for i := range all {
		all[i] = strings.TrimRight(all[i], " ")
	}
	return strings.Join(all, "\n")
}

// bareSeat is a person at a pseudo terminal with no daemon in between.
type bareSeat struct {
	master *os.File

	mu  sync.Mutex // guards what follows
	out []byte
}

// sitBare starts a login shell and reads all that comes until the test ends.
func sitBare(t testing.TB, dir string, env []string) *bareSeat {
	t.Helper()
	shell := exec.Command("/bin/bash")
	shell.Args, shell.Dir, shell.Env = []string{"-bash"}, dir, append(env, "TERM=xterm-256color", "PWD="+dir)
	master, err := pty.StartWithSize(shell, &pty.Winsize{Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	s := &bareSeat{master: master}
	var reading sync.WaitGroup
	reading.Go(func() {
		for piece := make([]byte, 4096); ; {
			n, err := master.Read(piece)
			s.mu.Lock()
			s.out = append(s.out, piece[:n]...)
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		_ = shell.Process.Signal(syscall.SIGHUP) // which it passes on to its jobs
		_ = shell.Wait()
		master.Close()
		reading.Wait()
	})
	return s
}

func (s *bareSeat) types(t testing.TB, text string) {
	t.Helper()
	if _, err := s.master.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func (s *bareSeat) screen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return onScreen(s.out)
}

// screen takes what has come for the tab, and gives what it shows.
func (w *tab) screen() string {
	for {
		select {
		case msg := <-w.e.heard:
			var data action.PtyData
			if msg.Event == action.EventPtyData && json.Unmarshal(msg.Payload, &data) == nil && data.SessionRef == w.ref {
				w.out.Write(data.Data)
			}
		default:
			return onScreen(w.out.Bytes())
		}
	}
}

// showBoth waits until both show text, and the same.
func showBoth(t testing.TB, bare *bareSeat, w *tab, text string) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		want, got := bare.screen(), w.screen()
		if strings.Contains(got, text) && got == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%q: the screen is\n%s\n\nand on a bare terminal\n%s", text, got, want)
		}
	}
}

// step is what a person does with a program, and what shows that it was done.
type step struct{ types, shows string }

// scenes are what a person does with less, vim and bash's job control, once bash stands at its prompt beside the file page.
func scenes() map[string][]step {
	return map[string][]step{
		"less": {{"clear; LESS= less page\n", "line 20:"}, {" ", "line 40:"}, {"/line 300\n", "line 310:"}, {"G", "(END)"}, {"=", "byte "}},
		"vim": {
			{"clear; vim -u NONE -i NONE -n page\n", "line 20:"}, {":set nocompatible ruler\r", "1,1"}, {"100Gdd", "100,1"},
			{"Oinserted é\x1b", "inserted é"}, {":set helpheight?\r", "helpheight="},
		},
		"bash": {
			{"clear; bash -c 'trap \"echo resumed\" CONT; echo ready; while :; do sleep 0.02; done'\n", "ready\n"},
			{"\x1a", "Stopped"}, {"clear; jobs; fg %1\n", "\nresumed"}, {"\x03", "^C\n$+"}, {"echo set''tled $?\n", "\nsettled 130\n$+"},
		},
	}
}

// writePage writes the file page, which is longer than a screen.
func writePage(t *testing.T, dir string) {
	t.Helper()
	var text strings.Builder
	for i := 1; i <= 500; i++ {
		fmt.Fprintf(&text, "line %d: ação, 日本語, %s\n", i, strings.Repeat("x", i%50))
	}
	if err := os.WriteFile(filepath.Join(dir, "page"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// playBoth has both do the same, in a bash of their own, and compares their screens after each step.
func playBoth(t *testing.T, bare *bareSeat, w *tab, steps []step) {
	t.Helper()
	// A login shell may be another than bash, and tell of jobs in other words.
	for _, s := range append([]step{{"clear; exec env 'PS1=$+ ' bash --noprofile --norc\n", "$+\n"}}, steps...) {
		bare.types(t, s.types)
		w.types(t, s.types)
		showBoth(t, bare, w, s.shows)
	}
}

// TestProgramsShowThroughTheDaemonWhatABareTerminalShows runs real less, vim and bash with job control.
func TestProgramsShowThroughTheDaemonWhatABareTerminalShows(t *testing.T) {
	for name, steps := range scenes() {
		t.Run(name, func(t *testing.T) {
			needsProgram(t, name)
			e := newEngine(t, action.Known()...)
			var env []string
			d := startDaemon(t, e, withTerminals(t, 3), func(o *Options) {
				o.Commands.Inherited = append(o.Commands.Inherited, "LANG=C.UTF-8")
				env = o.Commands.Inherited
			})
			e.joined(t)
			writePage(t, d.root)
			bare := sitBare(t, d.root, env)
			w := e.open(t, "one").opened(t)
			showBoth(t, bare, w, "$")
			playBoth(t, bare, w, steps)
		})
	}
}

// pastes are the ways to take a large paste: a file, one that is shown again at once, and an editor.
func pastes() map[string]struct{ program, open, ready, close string } {
	return map[string]struct{ program, open, ready, close string }{
		"taken":  {"bash", "stty -echo; echo rea''dy; cat >pasted; touch saved\n", "ready\r\n", "\x04"},
		"shown":  {"bash", "stty -echo; echo rea''dy; cat | tee pasted; touch saved; echo bo''th\n", "ready\r\n", "\x04"},
		"editor": {"vim", "vim -u NONE -i NONE -n +'set noautoindent showmode' pasted; touch saved\ni", "INSERT", "\x1b:wq\r"},
	}
}

// takesAPaste pastes a megabyte into w, whose shell stands in dir, and looks at what became of it. way is one of pastes.
func takesAPaste(t *testing.T, w *tab, dir, way string) {
	t.Helper()
	raw := make([]byte, 1<<20*5/8)
	_, _ = rand.Read(raw) // never fails
	var paste strings.Builder
	for text := base32.StdEncoding.EncodeToString(raw); len(text) > 0; {
		n := min(76, len(text))
		paste.WriteString(text[:n] + "\n")
		text = text[n:]
	}
	c := pastes()[way]
	w.types(t, c.open)
	w.sees(t, c.ready)
	w.out.Reset()
	for rest := paste.String(); rest != ""; {
		n := min(16<<10, len(rest))
		w.types(t, rest[:n])
		rest = rest[n:]
	}
	w.types(t, c.close)
	if way == "shown" {
		w.sees(t, "both\r\n")
		if got := strings.ReplaceAll(w.out.String(), "\r\n", "\n"); !strings.Contains(got, strings.TrimSpace(paste.String())) {
			t.Errorf("%d bytes were shown", len(got))
		}
	}
	awaitFile(t, filepath.Join(dir, "saved"))
	got, err := os.ReadFile(filepath.Join(dir, "pasted"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimRight(string(got), "\n") != strings.TrimRight(paste.String(), "\n") {
		t.Errorf("%d bytes arrived, %d were pasted", len(got), paste.Len())
	}
}

// TestMegabyteIsPastedThroughTheDaemon needs vim.
func TestMegabyteIsPastedThroughTheDaemon(t *testing.T) {
	for way, c := range pastes() {
		t.Run(way, func(t *testing.T) {
			needsProgram(t, c.program)
			e := newEngine(t)
			d := startDaemon(t, e, withTerminals(t, 3))
			e.joined(t)
			takesAPaste(t, e.open(t, "one").opened(t), d.root, way)
		})
	}
}

// TestAsManyTerminalsAsTheSettingAllows opens them all at once, uses each, and is refused one more. It runs real bash.
func TestAsManyTerminalsAsTheSettingAllows(t *testing.T) {
	const most = 16
	e := newEngine(t, action.Known()...)
	startDaemon(t, e, withTerminals(t, most))
	e.joined(t)
	for i := range most {
		w := e.open(t, fmt.Sprint("terminal", i)).opened(t)
		w.types(t, fmt.Sprintf("echo nu''mber %d\n", i))
		w.sees(t, fmt.Sprintf("number %d\r\n", i))
	}
	failuretest.Produced(t, e.open(t, "more").fails(t), failure.TerminalLimit)
}

// TestMachinePolicyDeclaresNoTerminals: a machine whose policy allows none declares none and opens none.
func TestMachinePolicyDeclaresNoTerminals(t *testing.T) {
	e := newEngine(t, action.Known()...)
	startDaemon(t, e, withTerminals(t, 3), withPolicy(t, t.TempDir(), `{"default":{"terminals":false}}`))
	if got := string(e.hear(t, "join").Payload); strings.Contains(got, "pty") {
		t.Error(got)
	}
	e.joined(t)
	failuretest.Produced(t, e.open(t, "one").fails(t), failure.MachinePolicyRefused)
}
