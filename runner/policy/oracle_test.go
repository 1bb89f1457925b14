package policy

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// fragments are what scripts for the oracle are made of: commands that only echo, and what the grammar can do to
// them. No function is ever called, so that none can call itself for ever.
var fragments = []string{
	"echo m1", "echo m2 x", "echo m3", "'echo' m4", "e\\cho m5", "\"echo\" m6", "ec''ho m7", "$'\\x65cho' m8",
	";", " ; ", "&&", " || ", "|", " & ", "\n", "\n", " ", "|&", ";;", ";&",
	"$(", ")", "`", "<(", "( ", " )", "{ ", "; }", "\"", "'", "$'", "\"$(", ")\"", "${x:-", "}", "\"${x:-'",
	"\\\n", " \\\n", "# ", "#", "\\", "cat <<E\n", "cat <<'E'\n", "cat <<-E\n", "E\n", "\nE\n",
	"case x in x) ", "case x in ", "x) ", " esac", "if true; then ", "; fi", "else ", "for i in a b; do ", "; done",
	"while false; do ", "until true; do ", "! ", "time ", "time -- ", "f() ", "x=1 ", "x=", "true ", "false ",
	"bash -c '", "bash -c \"", "eval ", "eval '", "command ", "builtin ", "exec ", "{a,b}", "{echo,m9}", "[[ a ]] && ", "((1)) && ",
	"$((1+1))", "$(( ", " ))", "> /dev/null", "2>&1", "<<< ", "&> /dev/null", "coproc ", "m1", "@(", "~", "$x", "*", "[", "]",
}

// script makes a script out of arbitrary bytes.
func script(data []byte) string {
	var b strings.Builder
	for _, c := range data[:min(len(data), 24)] {
		b.WriteString(fragments[int(c)%len(fragments)])
	}
	return b.String()
}

var tracedEcho = regexp.MustCompile(`(?m)^\++ echo (m[0-9])(?: |$)`)

// traced runs a script under a real Bash and gives the markers of the echo commands that it executes.
func traced(t *testing.T, bash, text string) map[string]bool {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, bash, "--norc", "--noprofile", "-c", text)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=/usr/bin:/bin", "SHELLOPTS=xtrace", "BASH_XTRACEFD=3"}
	cmd.ExtraFiles = []*os.File{w}
	cmd.WaitDelay = time.Second
	read := make(chan []byte)
	go func() {
		var out bytes.Buffer
		_, _ = io.Copy(&out, io.LimitReader(r, 1<<20))
		read <- out.Bytes()
	}()
	_ = cmd.Run() // that the script fails is no matter
	w.Close()
	got := map[string]bool{}
	for _, m := range tracedEcho.FindAllSubmatch(<-read, -1) {
		got[string(m[1])] = true
	}
	return got
}

// reported are the markers of the echo commands that the analysis finds reachable; open says that it found one whose
// verb or first operand is not written out.
func reported(text string) (markers map[string]bool, open bool) {
	markers = map[string]bool{}
	add := func(s *segment) {
		open = open || len(s.flat) > 0 && !s.flat[0].known()
		for i := range s.flat {
			if s.flat[i].text != "echo" && s.flat[i].known() {
				continue
			}
			if i+1 < len(s.flat) {
				markers[s.flat[i+1].text] = true
				open = open || !s.flat[i+1].plain() || !s.flat[i].known()
			}
		}
	}
	for _, u := range analyse(text).units() {
		for _, s := range u.readings {
			add(s)
			for i := range s.tails {
				add(s.tails[i].seg)
			}
		}
	}
	return markers, open
}

// Needs a real bash: what it executes, traced, must be contained in what the analysis reports as reachable.
func FuzzWhatBashRunsIsReported(f *testing.F) {
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS == "windows" {
		if os.Getenv("RUNNER_TEST_REQUIRE") == "1" {
			f.Fatal("bash is required and missing")
		}
		f.Skip("there is no bash here")
	}
	f.Add([]byte{0, 8, 1, 12, 2})
	f.Add([]byte{20, 0, 21})
	f.Add([]byte{39, 20, 0, 21, 42})
	f.Add([]byte{44, 0, 21, 54})
	f.Add([]byte{0, 36, 4})
	f.Add([]byte{83, 6, 12, 67})
	f.Add([]byte(")qaqz0z0z1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		text := script(data)
		if strings.Count(text, ",") > 3 {
			return // braces upon braces: Bash itself takes too long over them
		}
		markers, open := reported(text)
		if open {
			return
		}
		for m := range traced(t, bash, text) {
			if !markers[m] {
				t.Errorf("bash runs echo %s, which is not reported\n%s\n%q", m, text, text)
			}
		}
	})
}
