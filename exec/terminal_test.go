//go:build unix

package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// Runs real bash.
func TestTerminalIsALoginShellInItsFolder(t *testing.T) {
	umask := 0o027
	for name, change := range map[string]func(*TerminalOptions){
		"plain":      func(o *TerminalOptions) { o.Cols, o.Rows = 100, 30 },
		"with umask": func(o *TerminalOptions) { o.Cols, o.Rows, o.Umask = 100, 30, &umask },
	} {
		t.Run(name, func(t *testing.T) {
			s := sit(t, change)
			s.sees(t, "$")
			s.types(t, "shopt login_shell; pwd; echo $TERM $LC_CTYPE ${LINES:-none} $SHELL; stty size; umask; exit 7\n")
			out := s.ends(t)
			bash := systemBash(t).Path
			for _, want := range []string{"login_shell    \ton\r\n", s.dir + "\r\n", "xterm-256color C.UTF-8", " " + bash + "\r\n", "30 100\r\n"} {
				if !strings.Contains(out, want) {
					t.Errorf("%q does not stand in %q", want, out)
				}
			}
			if name == "with umask" && !strings.Contains(out, "\n0027\r\n") {
				t.Errorf("the umask is another: %q", out)
			}
			if exit := s.Wait(); exit != (Exit{ExitCode: 7}) {
				t.Errorf("%+v", exit)
			}
		})
	}
}

func TestTerminalThatCantOpenSaysWhy(t *testing.T) {
	for _, c := range []struct {
		change func(*TerminalOptions)
		want   failure.Name
	}{
		{func(o *TerminalOptions) { o.Dir = "src" }, failure.CwdNotAbsolute},
		{func(o *TerminalOptions) { o.Dir += "/missing" }, failure.CwdMissing},
		{func(o *TerminalOptions) { o.Shell = "" }, failure.ShellMissing},
		{func(o *TerminalOptions) { o.Shell = "/missing/shell" }, failure.ShellMissing},
		{func(o *TerminalOptions) { o.Shell = "/etc/passwd" }, failure.CouldNotStart},
	} {
		o := terminalOptions(t)
		c.change(&o)
		terminal, err := OpenTerminal(context.Background(), o)
		if terminal != nil {
			terminal.Close()
		}
		failuretest.Produced(t, err, c.want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := OpenTerminal(ctx, terminalOptions(t))
	failuretest.Produced(t, err, failure.Cancelled)
	if err := TerminalsWork(); err != nil {
		t.Error(err)
	}
}

// Needs the right to limit this process's descriptors, which everybody has.
func TestTerminalWithoutADescriptorLeftIsUnavailable(t *testing.T) {
	o := terminalOptions(t)
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	_, err := OpenTerminal(context.Background(), o)
	works := TerminalsWork()
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	failuretest.Produced(t, err, failure.TerminalUnavailable)
	failuretest.Produced(t, works, failure.TerminalUnavailable)
}

// Runs real bash.
func TestTerminalPassesEveryByteInOrder(t *testing.T) {
	s := sit(t)
	s.sees(t, "$")
	s.types(t, "stty raw -echo; printf 'ready\\n'; head -c 256 | od -An -v -tu1 | tr -d '\\n'; echo; "+
		"for i in 0 1 2 3; do for j in 0 1 2 3 4 5 6 7; do for k in 0 1 2 3 4 5 6 7; do printf \"\\\\$i$j$k\"; done; done; done; exit\n")
	s.waits(t, "ready", func() bool { return strings.Contains(s.raw.String(), "\nready\n") })
	all := make([]byte, 256)
	var numbers strings.Builder
	for i := range all {
		all[i] = byte(i)
		fmt.Fprintf(&numbers, "%d ", i)
	}
	s.types(t, string(all))
	_, out, _ := strings.Cut(s.ends(t), "\nready\n")
	in, out, _ := strings.Cut(out, "\n")
	if got := strings.Join(strings.Fields(in), " ") + " "; got != numbers.String() {
		t.Errorf("what came in: %q", got)
	}
	if !strings.HasPrefix(out, string(all)) {
		t.Errorf("what came out: %q", out)
	}
}

// Runs real bash.
func TestTerminalOutputIsWholeHoweverSlowlyItIsRead(t *testing.T) {
	o := terminalOptions(t)
	terminal, err := OpenTerminal(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	if _, err := io.WriteString(terminal, "stty -echo; PS1=; echo begin; seq 1 100000; exit 5\n"); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	piece := make([]byte, 1000) // less than comes at once, so that the terminal is always full
	for {
		n, err := terminal.Read(piece)
		out.Write(piece[:n])
		if errors.Is(err, io.EOF) {
			break
		}
	}
	if exit := terminal.Wait(); exit.ExitCode != 5 {
		t.Errorf("%+v", exit)
	}
	_, numbers, _ := strings.Cut(out.String(), "\nbegin\r\n")
	for i := 1; i <= 100000; i++ {
		var line string
		if line, numbers, _ = strings.Cut(numbers, "\r\n"); line != fmt.Sprint(i) {
			t.Fatalf("line %d is %q", i, line)
		}
	}
}

// Runs real bash and yes.
func TestFloodThatNobodyReadsIsStoppedAndCanBeClosed(t *testing.T) {
	terminal, err := OpenTerminal(context.Background(), terminalOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(terminal, "yes\n"); err != nil {
		t.Fatal(err)
	}
	for !terminal.output.isFull() {
		time.Sleep(time.Millisecond)
	}
	terminal.output.mu.Lock() // less than a whole piece may still be put there
	n := len(terminal.output.held)
	terminal.output.mu.Unlock()
	if n > outflowLimit {
		t.Errorf("%d bytes are held", n)
	}
	if err := terminal.Close(); err != nil {
		t.Error(err)
	}
	if n, err := terminal.Read(make([]byte, 10)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("after Close: %d, %v", n, err)
	}
	if err := terminal.Resize(10, 10); err != nil {
		t.Error(err)
	}
	if exit := terminal.Wait(); exit.Survivors != 0 {
		t.Errorf("%+v", exit)
	}
}

// Runs real bash and sleep.
func TestProgramThatDoesNotReadBlocksTheWriterUntilClose(t *testing.T) {
	s := sit(t)
	s.sees(t, "$")
	s.types(t, "stty raw -echo; echo deaf; exec sleep 300\n")
	s.sees(t, "deaf")
	wrote := make(chan error, 1)
	go func() {
		_, err := s.Write(make([]byte, 4<<20))
		wrote <- err
	}()
	if err := s.Resize(90, 20); err != nil { // which does not wait for the writer
		t.Error(err)
	}
	s.Close()
	if err := <-wrote; err == nil {
		t.Error("four megabytes were taken")
	}
	if _, err := s.Write([]byte("x")); err == nil {
		t.Error("a closed terminal takes input")
	}
}

// Runs real bash.
func TestTerminalLeavesNoDescriptorOpen(t *testing.T) {
	count := func() int {
		all, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	o := terminalOptions(t)
	var before int
	for i := range 20 {
		terminal, err := OpenTerminal(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		terminal.Close()
		if i == 0 {
			before = count()
		}
	}
	if n := count(); n > before {
		t.Errorf("%d descriptors became %d", before, n)
	}
}

func TestShellOfAnAccount(t *testing.T) {
	accounts := "root:x:0:0:root:/root:/bin/bash\n# no account\ndaemon:x:1:1:daemon:/:/usr/sbin/nologin\nx:x:7:7::/:\nana:x:1000:1000:Ana:/home/ana:/usr/bin/fish\n"
	for uid, want := range map[int]string{0: "/bin/bash", 1: "/usr/sbin/nologin", 7: "", 1000: "/usr/bin/fish", 5: ""} {
		if got := shellOf(strings.NewReader(accounts), uid); got != want {
			t.Errorf("%d: %q", uid, got)
		}
	}
	if !isNoShell("/usr/sbin/nologin") || !isNoShell("/bin/false") || isNoShell("/bin/zsh") {
		t.Error("a shell is taken for none, or none for one")
	}
	if path, err := LoginShell(nil); err != nil || !filepath.IsAbs(path) {
		t.Error(path, err)
	}
}

func TestTerminalEnvironment(t *testing.T) {
	env, err := TerminalEnvironment(
		[]string{"A=1", "LINES=3", "COLUMNS=9", "TERM=dumb", "BASH_ENV=x", "RUNNER_TOKEN=t", "SHELL=/bin/old", "LD_PRELOAD=x"},
		map[string]string{"EDITOR": "vi"}, "/bin/zsh")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(env, " "), "A=1 EDITOR=vi LC_CTYPE="+utf8Locale()+" SHELL=/bin/zsh TERM=xterm-256color"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, c := range []struct {
		inherited  []string
		configured map[string]string
	}{{[]string{"LANG=pt_BR.UTF-8"}, nil}, {nil, map[string]string{"LC_ALL": "C"}}} {
		env, err := TerminalEnvironment(c.inherited, c.configured, "/bin/zsh")
		if err != nil || strings.Contains(strings.Join(env, " "), "LC_CTYPE") {
			t.Errorf("%q, %v", env, err)
		}
	}
	_, err = TerminalEnvironment(nil, map[string]string{"A=B": "x"}, "/bin/zsh")
	failuretest.Produced(t, err, failure.InvalidEnv)
}
