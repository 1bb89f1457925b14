package exec

import (
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// Needs bash, git and a kernel with Landlock: what a project's own work needs goes on.
func TestConfinedCommandWorksInItsProject(t *testing.T) {
	for text, network := range map[string]bool{
		`echo a >f; mkdir -p d/e; mv f d/e/g; ln d/e/g h; ln -s h i; cat i; rm -r d`: false,
		`f=$(mktemp); echo a >$f; cat $f`:                                            false,
		`echo gone >/dev/null; head -c 1 /dev/zero >/dev/null; echo a >/dev/stderr`:  false,
		`cat <<<a`:                    false,
		`echo a | (cat; true) & wait`: false,
		`HOME=$PWD git init -q . && HOME=$PWD git -c user.name=a -c user.email=a commit -qm a --allow-empty && echo a`: false,
		`cat $V/tool/help >/dev/null && echo a`:               false,
		`sleep 60 & kill $! && echo a`:                        false,
		`$ATTACK pair >/dev/null && echo a`:                   false,
		`$ATTACK sequence-pair >/dev/null && echo a`:          false,
		`ulimit -c 0; ulimit -S -n 100 && echo a`:             false,
		`$ATTACK connect tcp $PORT >/dev/null && echo a`:      true,
		`grep -q 'NoNewPrivs:.1' /proc/self/status && echo a`: true,
	} {
		t.Run(text, func(t *testing.T) {
			v := newVictim(t)
			c := v.command(t, text)
			c.Bounds = v.bounds(t, network)
			must(t, c, 0, "a\n")
		})
	}
}

// Needs bash and a kernel with Landlock.
func TestConfinedCommandHasAFolderForTemporaryFilesThatGoes(t *testing.T) {
	v := newVictim(t)
	c := v.command(t, `test -w $TMPDIR && touch $TMPDIR/x && printf %s $TMPDIR`)
	c.Bounds = v.bounds(t, false)
	r := Run(context.Background(), c)
	if r.ExitCode != 0 || !filepath.IsAbs(r.Output) {
		t.Fatalf("%d, %s, %v", r.ExitCode, r.Output, r.Failure)
	}
	if _, err := os.Stat(r.Output); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", r.Output, err)
	}
}

// Needs bash and a kernel with Landlock. What a command made unreadable goes, too; for root nothing is unreadable.
func TestTemporaryFilesGoWhateverTheirModes(t *testing.T) {
	v := newVictim(t)
	c := v.command(t, `mkdir -p $TMPDIR/a/b && touch $TMPDIR/a/b/c && chmod 0 $TMPDIR/a/b $TMPDIR/a && printf %s $TMPDIR`)
	c.Bounds = v.bounds(t, false)
	r := Run(context.Background(), c)
	if _, err := os.Stat(r.Output); r.ExitCode != 0 || !os.IsNotExist(err) {
		t.Errorf("%d, %s, %v: %v", r.ExitCode, r.Output, r.Failure, err)
	}
}

// Needs bash and seccomp: the test goes on in a process for which the kernel has no Landlock.
func TestAttackKernelThatCantConfine(t *testing.T) {
	if os.Getenv(noLandlock) == "" {
		binary, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		again := osexec.Command(binary, asWithoutLandlock, "-test.run=^TestAttackKernelThatCantConfine$", "-test.v")
		again.Env = append(os.Environ(), noLandlock+"=1")
		out, err := again.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestAttackKernelThatCantConfine") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := command(t, `touch ran`)
	c.Bounds = Bounds{Helper: []string{binary, asBetween}, Confine: &Confine{Write: []string{c.Dir}}}
	failuretest.Produced(t, Run(context.Background(), c).Failure, failure.ConfinementUnavailable)
	// Nor does the program between go on alone, should the daemon be told otherwise.
	o := order{Confined: true, Write: []string{c.Dir}}
	failuretest.Produced(t, o.confine(), failure.ConfinementUnavailable)
	if _, err := os.Stat(filepath.Join(c.Dir, "ran")); err == nil {
		t.Error("it ran")
	}
}

func TestConfinementIsRefusedWhereTheKernelCant(t *testing.T) {
	for _, c := range []struct {
		version int
		filters bool
	}{{0, true}, {1, true}, {leastLandlock - 1, true}, {signalLandlock, false}} {
		_, err := confinementOf(c.version, c.filters)
		failuretest.Produced(t, err, failure.ConfinementUnavailable)
	}
	for version, signals := range map[int]bool{leastLandlock: true, signalLandlock - 1: true, signalLandlock: false} {
		told, err := confinementOf(version, true)
		if err != nil || strings.Contains(told, "signals") != signals {
			t.Errorf("version %d: %q, %v", version, told, err)
		}
	}
}

// Needs bash and sh: a program between that can't put the bounds on, or is not there, starts nothing.
func TestBoundsThatCantBePutOnStartNothing(t *testing.T) {
	for cause, helper := range map[string][]string{
		"no such luck":             {"/bin/sh", "-c", `printf '{"Cause":"no such luck"}' >&3`},
		"this program can't start": nil,
		"the order can't be read":  {os.Args[0], asBetween, "{"},
	} {
		c := command(t, `touch ran`)
		c.Bounds = Bounds{Limits: Limits{OpenFiles: 64}, Helper: helper}
		r := Run(context.Background(), c)
		failuretest.Produced(t, r.Failure, failure.ConfinementUnavailable)
		if r.Failure != nil && !strings.Contains(r.Failure.Error(), cause) {
			t.Errorf("%v does not say %q", r.Failure, cause)
		}
		if _, err := os.Stat(filepath.Join(c.Dir, "ran")); err == nil {
			t.Error("it ran")
		}
	}
}

// Needs bash and a kernel with Landlock, which does not govern this.
func TestNotDefendedConfinedCommandChangesModes(t *testing.T) {
	v := newVictim(t)
	c := v.command(t, `test -e $V/.ssh/id && chmod 644 $V/.ssh/id && echo a`)
	c.Bounds = v.bounds(t, false)
	must(t, c, 0, "a\n")
}

// Needs bash, stat, readlink, tr and a kernel with Landlock, which governs none of this.
func TestNotDefendedConfinedCommandLooksAround(t *testing.T) {
	v := newVictim(t)
	if err := os.Symlink("elsewhere", filepath.Join(v.home, "link")); err != nil {
		t.Fatal(err)
	}
	other := osexec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	}()
	texts := map[string]string{
		`stat -c %s $V/.ssh/id`: "7\n",
		`readlink $V/link`:      "elsewhere\n",
		`$ATTACK watch $V/.ssh`: "got it\n",
		fmt.Sprintf(`tr '\0' ' ' </proc/%d/cmdline`, other.Process.Pid): "sleep 60 ",
	}
	if unix.Setxattr(v.home, "user.kept", []byte("kept"), 0) == nil { // the file system has some
		texts[`$ATTACK attribute $V/.ssh/id`] = "got it\n"
	}
	for text, told := range texts {
		c := v.command(t, text)
		c.Bounds = v.bounds(t, false)
		must(t, c, 0, told)
	}
}

// Needs bash, renice and a kernel with Landlock, which does not govern this either.
func TestNotDefendedConfinedCommandSlowsOthersDown(t *testing.T) {
	v := newVictim(t)
	other := osexec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	}()
	c := v.command(t, fmt.Sprintf(`renice -n 19 -p %d >/dev/null && echo a`, other.Process.Pid))
	c.Bounds = v.bounds(t, false)
	must(t, c, 0, "a\n")
}

// limited is text within limits.
func limited(t testing.TB, text string, limits Limits) Command {
	t.Helper()
	c := command(t, text)
	c.Bounds = Bounds{Limits: limits, Helper: []string{os.Args[0], asBetween}}
	return c
}

// Needs bash.
func TestLimitsHold(t *testing.T) {
	must(t, limited(t, `ulimit -n; ulimit -c; ulimit -f`, Limits{OpenFiles: 64}), 0, "64\n0\nunlimited\n")
	must(t, limited(t, `ulimit -t; ulimit -f`, Limits{CPU: 1500 * time.Millisecond, FileSize: 4096}), 0, "2\n4\n")
	lower := limited(t, `ulimit -t`, Limits{CPU: time.Minute})
	lower.Helper = append([]string{"/bin/sh", "-c", `ulimit -S -t 5; exec "$0" "$@"`}, lower.Helper...)
	must(t, lower, 0, "5\n") // what is lower already stays so
	c := limited(t, `head -c 100000 /dev/zero >f; stat -c %s f`, Limits{FileSize: 4096})
	if r := Run(context.Background(), c); !strings.HasSuffix(r.Output, "4096\n") {
		t.Errorf("%q, %v", r.Output, r.Failure)
	}
	// Bash gives these the numbers from ten on, and there is none above fifteen.
	c = limited(t, `for i in {1..8}; do exec {fd}<. || break; done 2>&1 | tail -n 2; echo on`, Limits{OpenFiles: 16})
	if r := Run(context.Background(), c); r.ExitCode != 0 || !strings.HasSuffix(r.Output, "on\n") || !strings.Contains(r.Output, "Too many open files") {
		t.Errorf("%q, %v", r.Output, r.Failure)
	}
	r := Run(context.Background(), limited(t, `while :; do :; done`, Limits{CPU: time.Second}))
	failuretest.Produced(t, r.Failure, failure.KilledBySignal)
	if r.Signal != "SIGXCPU" {
		t.Errorf("%q ended it", r.Signal)
	}
}

// Needs bash. Root may raise every limit, so that it proves nothing as root.
func TestAttackCommandRaisesItsLimits(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may raise every limit")
	}
	for _, text := range []string{`ulimit -n 65`, `ulimit -c unlimited`, `ulimit -c 1`, `ulimit -t unlimited`, `ulimit -f unlimited`} {
		c := limited(t, text, Limits{CPU: time.Minute, OpenFiles: 64, FileSize: 4096})
		if r := Run(context.Background(), c); r.ExitCode == 0 || r.Failure != nil {
			t.Errorf("%q: %d, %v", text, r.ExitCode, r.Failure)
		}
	}
}

// Needs bash: a command that is not there is named as without bounds.
func TestBoundedShellThatIsMissing(t *testing.T) {
	c := limited(t, `true`, Limits{OpenFiles: 64})
	c.Shell.Path = "/missing/bash"
	failuretest.Produced(t, Run(context.Background(), c).Failure, failure.CouldNotStart)
}

// Runs real bash, by turns confined and not: what confinement costs, which is the start of the helper that restricts
// itself. Goal: at most ten times the command alone.
func BenchmarkConfinedTrue(b *testing.B) {
	v := newVictim(b)
	free, confined := v.command(b, `true`), v.command(b, `true`)
	confined.Bounds = v.bounds(b, false)
	took := func(c Command) time.Duration {
		began := time.Now()
		if r := Run(context.Background(), c); r.ExitCode != 0 {
			b.Fatal(r.Failure)
		}
		return time.Since(began)
	}
	var with, without []time.Duration
	for b.Loop() {
		without, with = append(without, took(free)), append(with, took(confined))
	}
	slices.Sort(with)
	slices.Sort(without)
	middle, floor := with[len(with)/2], without[len(without)/2]
	b.ReportMetric(float64(middle)/float64(floor), "times_free")
	b.ReportMetric(float64((middle-floor).Microseconds())/1000, "ms-added")
}

// Needs a shell: who puts the bounds on hangs, and the command's own deadline ends the wait. The patience for it would end
// it by another name.
func TestBoundsThatAreNotThereInTimeEndByTheDeadline(t *testing.T) {
	r := Run(context.Background(), Command{
		Text: "echo ran", Shell: Shell{Path: "/bin/sh", Bash: true}, Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}, ResultLimit: 1024,
		Deadline: time.Now().Add(2 * time.Second),
		Bounds:   Bounds{Limits: Limits{OpenFiles: 64}, Helper: []string{"/bin/sh", "-c", "while :; do sleep 1; done", "between"}},
	})
	failuretest.Produced(t, r.Failure, failure.ExpiredBeforeStart)
	if r.Output != "" || r.Survivors > 0 {
		t.Errorf("%+v", r)
	}
}
