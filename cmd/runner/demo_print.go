package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// told is what a step of the demonstration has shown. Its form with --json is stable.
type told struct {
	Step    string `json:"step"`
	OK      bool   `json:"ok"`
	Detail  string `json:"detail"`
	Skipped string `json:"skipped,omitempty"` // why the step can't be shown on this machine
	Action  string `json:"action,omitempty"`  // id of the action in question
	Millis  int64  `json:"ms"`
}

// printer shows the demonstration: a line a step for people, an object a line for programs.
type printer struct {
	out    io.Writer
	asJSON bool
	color  bool
	width  int // of the terminal, in columns; zero: it is none, and lines are as long as what they say
	began  time.Time
	steps  int
}

// stepIndent is where the text of a step begins.
const stepIndent = 25

func newPrinter(out io.Writer, asJSON bool) *printer {
	return &printer{out: out, asJSON: asJSON, color: !asJSON && colorful(out), width: columns(out), began: time.Now()}
}

func columns(out io.Writer) int {
	f, isFile := out.(*os.File)
	if !isFile {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// colorful follows the common rules: only a terminal, and not where the person said no.
func colorful(out io.Writer) bool {
	f, isFile := out.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// note prints a line between steps, for people only.
func (p *printer) note(format string, args ...any) {
	if !p.asJSON {
		fmt.Fprintln(p.out, "  "+hang(fmt.Sprintf(format, args...), p.width, 2))
	}
}

func (p *printer) step(t told) {
	p.steps++
	if p.asJSON {
		enc := json.NewEncoder(p.out)
		enc.SetEscapeHTML(false) // commands are full of & and <, and nobody puts this into a page
		// A told always marshals; an error of the writer shows up as a missing line.
		_ = enc.Encode(t)
		return
	}
	mark, detail := p.paint("32", "✓"), t.Detail
	switch {
	case t.Skipped != "":
		mark, detail = "-", "skipped: "+t.Skipped
	case !t.OK:
		mark = p.paint("31", "✗")
	}
	took := fmt.Sprintf("(%d\u00a0ms)", t.Millis)
	text := hang(detail+" "+took, p.width, stepIndent)
	fmt.Fprintf(p.out, "%s %-22s %s%s\n", mark, t.Step, strings.TrimSuffix(text, took), p.paint("2", strings.ReplaceAll(took, "\u00a0", " ")))
}

// hang breaks text between words so that it fits into width columns, each line beginning at indent.
func hang(text string, width, indent int) string {
	if width <= indent {
		return text
	}
	var b strings.Builder
	column := indent
	for i, word := range strings.Split(text, " ") {
		length := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+length > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += length
	}
	return b.String()
}

func (p *printer) end() {
	p.note("%d steps in %.1f s. The same hub and daemon stay for good with `runner up`; see the README.", p.steps, time.Since(p.began).Seconds())
}

func (p *printer) paint(code, text string) string {
	if !p.color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// askPerson asks a yes-or-no question on the terminal. Anything but a yes is a no, also the end of the input.
func askPerson(in io.Reader, out io.Writer) func(question string) bool {
	lines := bufio.NewScanner(in)
	return func(question string) bool {
		fmt.Fprintf(out, "? %s [y/N] ", question)
		if !lines.Scan() {
			fmt.Fprintln(out)
			return false
		}
		answer := strings.ToLower(strings.TrimSpace(lines.Text()))
		return answer == "y" || answer == "yes"
	}
}
