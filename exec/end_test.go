//go:build unix

package exec

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// within gives c a deadline d from now.
func within(c Command, d time.Duration) Command {
	c.Received = time.Now()
	c.Deadline = c.Received.Add(d)
	return c
}

// Runs real bash.
func TestDeadlineEndsTheGroup(t *testing.T) {
	for name, text := range map[string]string{
		"a sleeping child":         `echo begun; sleep 300; echo never`,
		"a pipeline":               `echo begun; sleep 300 | cat`,
		"a shell that ignores":     `trap '' TERM; echo begun; while :; do sleep 300; done`,
		"children that ignore":     `echo begun; (trap '' TERM; sleep 300) & (trap '' TERM; sleep 300) & wait`,
		"a loop":                   `echo begun; while :; do :; done`,
		"a stopped child":          `echo begun; sleep 300 & kill -STOP $!; wait`,
		"a shell that stops":       `echo begun; kill -STOP $$; sleep 300`,
		"a child with closed pipe": `echo begun; sleep 300 >/dev/null 2>&1`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := within(command(t, text), 4*time.Second)
			res := Run(context.Background(), c)
			failuretest.Produced(t, res.Failure, failure.TimedOut)
			if res.ExitCode != -1 || !res.TimedOut || res.Cancelled || res.Output != "begun\n" || res.Survivors != 0 {
				t.Errorf("%+v", res)
			}
		})
	}
}

// Runs real bash.
func TestDeadlineLetsTheCommandTidyUp(t *testing.T) {
	c := within(command(t, `trap 'echo tidied; exit 0' TERM; echo begun; while :; do sleep 0.05; done`), 4*time.Second)
	res := Run(context.Background(), c)
	failuretest.Produced(t, res.Failure, failure.TimedOut)
	if res.ExitCode != -1 || !res.TimedOut || !strings.HasSuffix(res.Output, "tidied\n") {
		t.Errorf("%+v", res)
	}
}

// Runs real bash.
func TestDeadlineKeepsThePartialOutput(t *testing.T) {
	c := within(command(t, `yes | head -c 1000000; sleep 300`), 4*time.Second)
	res := Run(context.Background(), c)
	failuretest.Produced(t, res.Failure, failure.TimedOut)
	if res.Total != 1000000 || !res.Truncated {
		t.Errorf("total %d, truncated %v", res.Total, res.Truncated)
	}
}

// Runs real bash.
func TestCancelDuringACommand(t *testing.T) {
	why := errors.New("the person changed their mind")
	for name, text := range map[string]string{
		"one that obeys":   `echo begun; sleep 300`,
		"one that ignores": `trap '' TERM; echo begun; while :; do sleep 300; done`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			c := command(t, text)
			c.Grace = 100 * time.Millisecond
			c.Observe = func([]byte) { cancel(why) }
			res := Run(ctx, c)
			f := failuretest.Produced(t, res.Failure, failure.Cancelled)
			if !errors.Is(f, why) || res.ExitCode != -1 || !res.Cancelled || res.TimedOut || res.Output != "begun\n" {
				t.Errorf("%+v", res)
			}
		})
	}
}

// Runs real bash.
func TestDeathBySomebodyElsesSignal(t *testing.T) {
	for _, signal := range []string{"SIGKILL", "SIGSEGV", "SIGTERM"} {
		res := Run(context.Background(), command(t, `echo last words; kill -`+strings.TrimPrefix(signal, "SIG")+` $$; sleep 300`))
		failuretest.Produced(t, res.Failure, failure.KilledBySignal)
		if res.ExitCode != -1 || res.Signal != signal || res.Output != "last words\n" || res.TimedOut || res.Cancelled {
			t.Errorf("%+v", res)
		}
	}
}

// Runs real bash.
func TestBackgroundChildrenEndWithTheCommand(t *testing.T) {
	for name, text := range map[string]string{
		"one that holds the pipe":  `sleep 300 & echo done`,
		"one that holds nothing":   `sleep 300 >/dev/null 2>&1 & echo done`,
		"one that ignores TERM":    `(trap '' TERM; sleep 300; sleep 300) & echo done`,
		"one in a job of its own":  `set -m; sleep 300 & echo done`,
		"one that keeps on trying": `(exec 3>&1 >/dev/null; trap '' TERM; while :; do :; done) & echo done`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if res := must(t, command(t, text), 0, "done\n"); runtime.GOOS == "linux" && res.Left == 0 {
				t.Error("nothing is said to have been left")
			}
		})
	}
}

// Runs real bash.
func TestBackgroundChildrenMayFinishWhatTheyWrite(t *testing.T) {
	for text, output := range map[string]string{
		`(sleep 0.05; echo later) & echo done`: "done\nlater\n",
		`echo text > >(sleep 0.05; cat)`:       "text\n",
	} {
		c := command(t, text)
		c.linger = time.Minute
		if res := must(t, c, 0, output); res.Left != 0 {
			t.Errorf("%d had to be ended", res.Left)
		}
	}
}

// Runs real bash.
func TestBackgroundWriterIsCutOff(t *testing.T) {
	res := Run(context.Background(), command(t, `yes & exit 3`))
	if res.ExitCode != 3 || res.Failure != nil || res.Total == 0 {
		t.Errorf("%+v", res)
	}
}
