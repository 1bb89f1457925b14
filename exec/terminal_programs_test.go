//go:build unix

package exec

import (
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// scene is what a person does with a program in a terminal. It returns when the screen that counts stands.
type scene func(t *testing.T, s *seat)

// page is a text longer than a screen, with wide and combining characters.
func page(t *testing.T, s *seat) {
	t.Helper()
	var text strings.Builder
	for i := 1; i <= 500; i++ {
		fmt.Fprintf(&text, "line %d: ação, 日本語, e\u0301, %s\n", i, strings.Repeat("x", i%90))
	}
	if err := os.WriteFile(filepath.Join(s.dir, "page"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

var scenes = map[string]struct {
	program string
	play    scene
}{
	"pager": {"less", func(t *testing.T, s *seat) {
		page(t, s)
		s.types(t, "LESS= less page\n")
		s.sees(t, "line 20:")
		s.types(t, " ")
		s.sees(t, "line 32:")
		s.types(t, "/line 300\n")
		s.sees(t, "line 310:")
		s.types(t, "G")
		s.sees(t, "(END)")
	}},
	"editor": {"vim", func(t *testing.T, s *seat) {
		page(t, s)
		s.types(t, "vim -u NONE -i NONE -n page\n")
		s.sees(t, "38692 bytes")
		s.types(t, ":set nocompatible number ruler\r")
		s.sees(t, "  1 line 1:")
		s.types(t, "100Gdd")
		s.sees(t, "100,1")
		s.types(t, "Oinserted é\x1b:w saved\r:q!\r")
		s.sees(t, "$")
		saved := s.waitForText(t, "saved")
		if !strings.Contains(strings.Join(saved, " "), "inserted é") {
			t.Errorf("what was typed was not saved")
		}
		s.types(t, "clear; vim -u NONE -i NONE -n +100 saved\n")
		s.sees(t, "inserted é")
		s.types(t, ":set ruler\r")
		s.sees(t, "100,1")
	}},
	"jobs": {"bash", func(t *testing.T, s *seat) {
		s.sees(t, "$")
		s.types(t, `bash -c 'trap "echo resumed" CONT; echo ready; while :; do sleep 0.02; done'`+"\n")
		s.sees(t, "\nready")
		s.types(t, "\x1a")
		s.sees(t, "Stopped")
		s.types(t, "sleep 30 & sleep 0; jobs\n")
		s.sees(t, "Running")
		s.types(t, "clear; jobs; fg %1\n")
		s.sees(t, "\nresumed")
		s.types(t, "\x03")
		s.sees(t, "^C\n$")
		s.types(t, "echo status $?; echo over\n")
		s.sees(t, "\nover\n$")
	}},
}

// Runs real bash with job control, less and vim, each in a terminal and on a bare one, whose screens have to be the same.
func TestProgramsShowTheScreenOfABareTerminal(t *testing.T) {
	for name, c := range scenes {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(c.program); err != nil {
				missing(t, c.program)
			}
			dir := t.TempDir()
			change := func(o *TerminalOptions) { o.Dir, o.Cols, o.Rows = dir, 90, 30 }
			bare := sitBare(t, change)
			c.play(t, bare)
			want := bare.settled(t, c.program)
			os.Remove(filepath.Join(dir, "saved")) // of the first play
			s := sit(t, change)
			c.play(t, s)
			if got := s.settled(t, c.program); got != want {
				t.Errorf("the screen is\n%s\n\nand on a bare terminal\n%s", got, want)
			}
		})
	}
}

// Runs real bash and vim.
func TestProgramsFollowTheSize(t *testing.T) {
	if _, err := exec.LookPath("vim"); err != nil {
		missing(t, "vim")
	}
	s := sit(t)
	page(t, s)
	s.types(t, "vim -u NONE -i NONE -n +'set ruler' +40 page\n")
	s.sees(t, "40,1")
	s.mu.Lock()
	s.screen.Resize(60, 12)
	s.mu.Unlock()
	if err := s.Resize(60, 12); err != nil {
		t.Fatal(err)
	}
	s.sees(t, "7%")
	s.types(t, ":set columns?\r")
	s.sees(t, "columns=60")
	s.types(t, ":set lines?\r")
	s.sees(t, "lines=12")
}

// Runs real bash and vim. A megabyte is pasted in one piece.
func TestMegabyteThatIsPastedArrivesWhole(t *testing.T) {
	raw := make([]byte, 1<<20*5/8)
	_, _ = rand.Read(raw) // never fails
	text := base32.StdEncoding.EncodeToString(raw)
	var paste strings.Builder
	for len(text) > 0 {
		n := min(76, len(text))
		paste.WriteString(text[:n] + "\n")
		text = text[n:]
	}
	for name, c := range map[string]struct{ program, open, close, after string }{
		"lines":  {"bash", "stty -echo; cat >pasted; touch done; echo whole\n", "\x04", "whole\n$"},
		"editor": {"vim", "vim -u NONE -i NONE -n +'set noautoindent' pasted\n", "\x1b:wq\r", "pasted\n$"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(c.program); err != nil {
				missing(t, c.program)
			}
			s := sit(t)
			s.sees(t, "$")
			s.types(t, c.open)
			if name == "editor" {
				s.sees(t, "[New")
				s.types(t, "i")
			}
			s.types(t, paste.String()+c.close)
			s.sees(t, c.after)
			got, err := os.ReadFile(filepath.Join(s.dir, "pasted"))
			if err != nil {
				t.Fatal(err)
			}
			if strings.TrimRight(string(got), "\n") != strings.TrimRight(paste.String(), "\n") {
				t.Errorf("%d bytes arrived, %d were pasted", len(got), paste.Len())
			}
		})
	}
}
