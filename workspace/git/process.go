package git

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"brabo.dev/runner/runner/failure"
)

// Command is one run of a program, without a shell.
type Command struct {
	Program string   // absolute
	Args    []string // without the program's own name
	Dir     string
	Env     []string // the whole environment
	Stdin   []byte
	Lines   func(line string) // told each line of stderr as it comes; nil: nobody is
	Limit   int               // bytes kept of stdout; what is beyond it ends the run
}

// Output is what became of a Command.
type Output struct {
	Code   int
	Stdout []byte
	Stderr []byte // its end
}

// Run runs a Command until its end, or until ctx is cancelled, and ends what it has started. The error is for a program
// that could not be started or had to be ended; an exit code other than 0 is none.
type Run func(ctx context.Context, c Command) (Output, error)

// Defaults of a Command.
const (
	defaultLimit = 8 << 20 // protocol.md 4.3
	stderrKept   = 16 << 10
	lingering    = 2 * time.Second
)

var errTooMuch = errors.New("it printed more than is kept")

// Process runs c as a child of this process, in a process group of its own and in this process's session.
func Process(ctx context.Context, c Command) (Output, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, c.Program, c.Args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = c.Dir, c.Env, lingering
	stdout := &head{most: c.Limit, full: func() { cancel(errTooMuch) }}
	if stdout.most == 0 {
		stdout.most = defaultLimit
	}
	stderr := &tail{lines: c.Lines}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(c.Stdin), stdout, stderr
	ownGroup(cmd)
	err := cmd.Run()
	out := Output{Stdout: stdout.kept, Stderr: stderr.kept}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return out, context.Cause(ctx)
	case errors.As(err, &exit) && exit.Exited():
		out.Code = exit.ExitCode()
		return out, nil
	}
	return out, err
}

// head keeps the first bytes.
type head struct {
	kept []byte
	most int
	full func()
}

func (h *head) Write(p []byte) (int, error) {
	if len(h.kept)+len(p) > h.most {
		h.full()
		return 0, io.ErrShortWrite
	}
	h.kept = append(h.kept, p...)
	return len(p), nil
}

// tail keeps the last bytes, and tells the lines. Progress ends its lines with a carriage return.
type tail struct {
	kept  []byte
	line  []byte
	lines func(string)
}

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - stderrKept; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	if t.lines == nil {
		return len(p), nil
	}
	for _, b := range p {
		if b != '\n' && b != '\r' {
			if len(t.line) < 4096 {
				t.line = append(t.line, b)
			}
			continue
		}
		t.lines(string(t.line))
		t.line = t.line[:0]
	}
	return len(p), nil
}

// findProgram gives the absolute path of given, or of the first program called name in env's PATH. A relative entry of
// PATH counts for nothing.
func findProgram(given, name string, env []string) (string, error) {
	if filepath.IsAbs(given) {
		return given, nil
	}
	if given != "" {
		name = given
	}
	for _, pair := range env {
		key, value, _ := strings.Cut(pair, "=")
		if !strings.EqualFold(key, "PATH") {
			continue
		}
		for _, dir := range filepath.SplitList(value) {
			if !filepath.IsAbs(dir) {
				continue
			}
			for _, ending := range programEndings {
				path := filepath.Join(dir, name+ending)
				if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && runnable(info) {
					return path, nil
				}
			}
		}
	}
	return "", exec.ErrNotFound
}

// endedBy names the end that ctx brought to a run, or is empty.
func endedBy(ctx context.Context, err error) failure.Name {
	switch {
	case err == nil || ctx.Err() == nil:
		return ""
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failure.TimedOut
	}
	return failure.Cancelled
}
