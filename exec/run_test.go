//go:build unix

package exec

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Runs real bash.
func TestRunGivesCodeAndOutput(t *testing.T) {
	for name, tc := range map[string]struct {
		text   string
		code   int
		output string
	}{
		"silence":                          {`true`, 0, ""},
		"an exit code":                     {`exit 3`, 3, ""},
		"the highest exit code":            {`exit 255`, 255, ""},
		"a child's death is bash's code":   {`sh -c 'kill -9 $$' | cat; echo ${PIPESTATUS[0]}`, 0, "137\n"},
		"both streams in order":            {`echo a; echo b >&2; echo c`, 0, "a\nb\nc\n"},
		"stdin is at its end":              {`cat; read x; echo $?`, 0, "1\n"},
		"no terminal to ask on":            {`(: </dev/tty) 2>/dev/null; echo $?`, 0, "1\n"},
		"bash, not sh":                     {`a=(1 2); [[ ${#a[@]} == 2 ]] && echo yes`, 0, "yes\n"},
		"a text of several lines":          {"cat <<E\n'x' \"$((1+1))\"\nE\n", 0, "'x' \"2\"\n"},
		"a text that begins with a dash":   {`-x; echo $?`, 0, "bash: line 1: -x: command not found\n127\n"},
		"a text that begins with a plus":   {`+x; echo $?`, 0, "bash: line 1: +x: command not found\n127\n"},
		"a group of its own":               {`[ $(ps -o pgid= $$) = $$ ] && echo own`, 0, "own\n"},
		"closed output":                    {`exec >&- 2>&-; sleep 0.01; exit 4`, 4, ""},
		"unknown command":                  {`no-such-program 2>/dev/null`, 127, ""},
		"a syntax error is the shell's":    {`if 2>/dev/null; then`, 2, ""},
		"text in UTF-8":                    {`echo 'ação €'`, 0, "ação €\n"},
		"invalid bytes":                    {`printf 'a\377b'`, 0, "a\uFFFDb"},
		"a character in two writes":        {`printf '\342\202'; sleep 0.01; printf '\254'`, 0, "€"},
		"carriage returns are left alone":  {`printf 'a\r\nb'`, 0, "a\r\nb"},
		"an output without an end of line": {`printf x`, 0, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := command(t, tc.text)
			res := Run(context.Background(), c)
			got := strings.ReplaceAll(res.Output, c.Shell.Path+":", "bash:")
			if name == "a syntax error is the shell's" {
				got = ""
			}
			if res.ExitCode != tc.code || got != tc.output || res.Failure != nil {
				t.Errorf("code %d, output %q, failure %v; want %d and %q", res.ExitCode, got, res.Failure, tc.code, tc.output)
			}
		})
	}
}

// Runs real bash.
func TestRunInItsFolder(t *testing.T) {
	c := command(t, `pwd; pwd -P; echo "$PWD"`)
	real, err := filepath.EvalSymlinks(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	c.Dir = link
	must(t, c, 0, link+"\n"+real+"\n"+link+"\n")
}

// Runs real bash.
func TestRunSaysHowMuchCame(t *testing.T) {
	c := command(t, `head -c 10000000 /dev/zero | tr '\0' x; printf 'the end'`)
	var seen int64
	c.Observe = func(chunk []byte) { seen += int64(len(chunk)) }
	res := Run(context.Background(), c)
	if res.Total != 10000007 || !res.Truncated || res.ExitCode != 0 || seen != res.Total {
		t.Errorf("total %d, truncated %v, code %d, observed %d", res.Total, res.Truncated, res.ExitCode, seen)
	}
	if len(res.Output) > c.ResultLimit || !strings.HasPrefix(res.Output, "xxx") || !strings.HasSuffix(res.Output, "xthe end") ||
		!strings.Contains(res.Output, "[saída truncada: 32768 de 10000007 bytes.") {
		t.Errorf("%d bytes: %.200q", len(res.Output), res.Output)
	}
}

// Runs real bash.
func TestRunOfBinaryOutput(t *testing.T) {
	c := command(t, `head -c 200000 /dev/urandom`)
	var all bytes.Buffer
	c.Observe = func(chunk []byte) { all.Write(chunk) }
	res := Run(context.Background(), c)
	o := NewOutput(c.ResultLimit)
	o.Write(all.Bytes())
	if want, _, _, invalid := o.Result(); res.Output != want || res.Invalid != invalid || invalid == 0 || res.Total != 200000 {
		t.Errorf("total %d, invalid %d", res.Total, res.Invalid)
	}
}

// Runs real bash.
func TestRunTellsThatItStarted(t *testing.T) {
	c := command(t, `echo $$`)
	var pid int
	c.Started = func(p int, identity string) {
		pid = p
		if runtime.GOOS == "linux" && (identity == "" || identity == Identity(os.Getpid())) {
			t.Errorf("identity %q", identity)
		}
	}
	if res := Run(context.Background(), c); res.Output != fmt.Sprintln(pid) {
		t.Errorf("%q came from the process that was announced as %d", res.Output, pid)
	}
}

// Runs real bash.
func TestRunWithAUmask(t *testing.T) {
	for _, umask := range []int{0o022, 0o077, 0o002} {
		c := command(t, `umask; exit 5`)
		c.Umask = &umask
		must(t, c, 5, fmt.Sprintf("%04o\n", umask))
	}
}

// Runs real sh.
func TestRunUnderAnotherShell(t *testing.T) {
	c := command(t, `echo "$0"`)
	c.Shell = Shell{Path: "/bin/sh", Args: []string{"-e", "-c"}}
	c.PlainPOSIX = func(text string) bool { return text == c.Text }
	must(t, c, 0, "/bin/sh\n")
}
