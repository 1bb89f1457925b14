package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestApprovedCommandRunsInTheProjectAndIsReported(t *testing.T) {
	e := newEngine(t)
	d := startDaemon(t, e)
	e.joined(t)
	e.exec(t, "a", "pwd; echo to stderr >&2; exit 3", fmt.Sprintf(`,"cwd":%q`, d.root))
	got := e.result(t)
	want := action.ExecResult{Ref: "a", ExitCode: 3, Output: d.root + "\nto stderr\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestJoinDeclaresAndConfirmsTheFolder(t *testing.T) {
	e := newEngine(t)
	d := startDaemon(t, e)
	if got := string(e.hear(t, "join").Payload); got != `{"capacidades":["exec","ext:ack","ext:deadline","ext:decision","ext:cancel","ext:output","ext:progress"]}` {
		t.Error(got)
	}
	if got := string(e.hear(t, "workspace_confirm").Payload); got != fmt.Sprintf(`{"path":%q}`, d.root) {
		t.Error(got)
	}
	if info, err := os.Stat(d.root); err != nil || !info.IsDir() {
		t.Error(err)
	}
}

func TestCommandWithoutCwdRunsInTheRoot(t *testing.T) {
	e := newEngine(t)
	d := startDaemon(t, e)
	e.joined(t)
	for _, rest := range []string{"", `,"cwd":null`} {
		e.exec(t, "a"+rest, "pwd", rest)
		if got := e.result(t); got.Output != d.root+"\n" {
			t.Errorf("%q: %+v", rest, got)
		}
	}
}

func TestMalformedExecIsAnsweredByName(t *testing.T) {
	e := newEngine(t)
	d := startDaemon(t, e)
	e.joined(t)
	outside := filepath.Dir(d.root)
	for _, c := range []struct {
		payload string
		want    failure.Name
	}{
		{`{"ref":"%s"}`, failure.MalformedAction},
		{`{"ref":"%s","command":""}`, failure.CommandEmpty},
		{`{"ref":"%s","command":"ls\u0000"}`, failure.CommandNUL},
		{`{"ref":"%s","command":"ls","cwd":"src"}`, failure.CwdNotAbsolute},
		{`{"ref":"%s","command":"ls","cwd":"` + d.root + `/../.."}`, failure.CwdInvalid},
		{`{"ref":"%s","command":"ls","cwd":"` + outside + `"}`, failure.CwdOutside},
		{`{"ref":"%s","command":"ls","cwd":"` + d.root + `/missing"}`, failure.CwdMissing},
		{`{"ref":"%s","command":"ls","env":{"A":1}}`, failure.InvalidEnv},
		{`{"ref":"%s","command":"ls","env":{"BASH_ENV":"x"}}`, failure.EnvNotAllowed},
	} {
		ref := string(c.want)
		e.send(t, "exec", fmt.Sprintf(c.payload, ref))
		got := e.result(t)
		if got.Ref != ref || got.ExitCode != -1 || got.TimedOut || !strings.HasPrefix(got.Output, "[runner recusou o comando: "+ref) {
			t.Errorf("%+v", got)
		}
		failuretest.Produced(t, got.Failure, c.want)
	}
}

func TestNoiseIsIgnoredAndTheSessionServesOn(t *testing.T) {
	e := newEngine(t)
	d := startDaemon(t, e)
	e.joined(t)
	for _, payload := range []string{`null`, `7`, `[]`, `{"command":"ls"}`, `{"ref":null,"command":"ls"}`} {
		e.send(t, "exec", payload)
	}
	for range 3 {
		e.send(t, "surprise", `{"ref":"x"}`)
	}
	e.send(t, "exec_cancel", `{"ref":"x"}`) // not granted
	e.exec(t, "after", "echo still here", "")
	if got := e.result(t); got.Ref != "after" || got.Output != "still here\n" {
		t.Errorf("%+v", got)
	}
	if n := strings.Count(d.log.String(), `"subject":"event surprise"`); n != 1 {
		t.Errorf("the unknown event was logged %d times", n)
	}
	failuretest.Produced(t, d.log.failure(t, "event surprise"), failure.UnknownEvent)
}

func TestRepeatedActionRunsOnceAndIsAnsweredAgain(t *testing.T) {
	e := newEngine(t, action.Known()...)
	startDaemon(t, e)
	e.joined(t)
	for range 2 {
		e.exec(t, "a", "echo run >>runs; wc -l <runs", "")
		if got := e.result(t); strings.TrimSpace(got.Output) != "1" {
			t.Errorf("%+v", got)
		}
	}
	e.exec(t, "a", "echo another", "")
	got := e.result(t)
	failuretest.Produced(t, got.Failure, failure.RefReused)
}

func TestResultIsDeliveredAfterTheRejoin(t *testing.T) {
	for _, c := range []struct {
		name   string
		grants []action.Extension
	}{{"to a server that acknowledges", action.Known()}, {"to one that does not", nil}} {
		t.Run(c.name, func(t *testing.T) {
			e := newEngine(t, c.grants...)
			d := startDaemon(t, e, func(o *Options) { o.Terminals.Max = 1 })
			e.joined(t)
			e.exec(t, "a", "touch started; while [ ! -e go ]; do sleep 0.01; done; echo done", "")
			waitFile(t, filepath.Join(d.root, "started"))
			e.drop()
			e.joined(t)
			if err := os.WriteFile(filepath.Join(d.root, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := e.result(t); got.Ref != "a" || got.Output != "done\n" {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestResultThatTheServerDidNotStoreIsSentAgainAfterTheRejoin(t *testing.T) {
	e := newEngine(t, action.Known()...)
	e.unacked = map[string]string{"a": "disk full"}
	startDaemon(t, e)
	e.joined(t)
	e.exec(t, "a", "echo one", "")
	e.result(t)
	e.exec(t, "b", "echo two", "") // what follows is not held up
	if got := e.result(t); got.Ref != "b" {
		t.Errorf("%+v", got)
	}
	e.drop()
	e.joined(t)
	if got := e.result(t); got.Ref != "a" || got.Output != "one\n" {
		t.Errorf("%+v", got)
	}
}

func TestDeadlineOfTheServerEndsTheCommand(t *testing.T) {
	e := newEngine(t, action.Known()...)
	startDaemon(t, e)
	e.joined(t)
	e.exec(t, "a", "echo partial; sleep 300", `,"deadlineMs":1000`)
	got := e.result(t)
	if got.ExitCode != -1 || !got.TimedOut || !strings.HasPrefix(got.Output, "partial\n[runner: timed_out") {
		t.Errorf("%+v", got)
	}
	failuretest.Produced(t, got.Failure, failure.TimedOut)
	e.exec(t, "b", "ls", `,"deadlineMs":1`)
	failuretest.Produced(t, e.result(t).Failure, failure.InvalidDeadline)
}

func TestCancelEndsRunningAndWaitingCommands(t *testing.T) {
	e := newEngine(t, action.Known()...)
	d := startDaemon(t, e, func(o *Options) { o.Commands.Parallel = 1 })
	e.joined(t)
	e.exec(t, "running", "touch started; sleep 300", "")
	waitFile(t, filepath.Join(d.root, "started"))
	e.exec(t, "waiting", "touch never", "")
	for _, ref := range []string{"waiting", "running"} {
		e.send(t, "exec_cancel", fmt.Sprintf(`{"ref":%q,"reason":"test"}`, ref))
		got := e.result(t)
		if got.Ref != ref || got.ExitCode != -1 || got.TimedOut {
			t.Errorf("%+v", got)
		}
		failuretest.Produced(t, got.Failure, failure.Cancelled)
	}
	e.send(t, "exec_cancel", `{"ref":"running"}`) // finished: ignored
	if _, err := os.Stat(filepath.Join(d.root, "never")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a cancelled command ran")
	}
}

func TestStopLetsRunningCommandsFinishAndDeliversTheirResults(t *testing.T) {
	for name, grants := range map[string][]action.Extension{"acknowledging server": action.Known(), "plain server": nil} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, grants...)
			d := startDaemon(t, e, func(o *Options) { o.Terminals.Max = 1 })
			e.joined(t)
			e.exec(t, "a", "touch started; while [ ! -e go ]; do sleep 0.01; done; echo finished", "")
			waitFile(t, filepath.Join(d.root, "started"))
			d.stop()
			waitLog(t, d, "stopping: waiting for running actions")
			e.send(t, action.EventPtyOpen, `{"sessionRef":"late","cols":80,"rows":24}`)
			var terminal action.PtyError
			if err := json.Unmarshal(e.hear(t, action.EventPtyError).Payload, &terminal); err != nil {
				t.Fatal(err)
			}
			failuretest.Produced(t, terminal.Failure, failure.Draining)
			e.exec(t, "late", "touch late", "")
			if grants == nil { // nobody would send it again
				failuretest.Produced(t, e.result(t).Failure, failure.Draining)
			} else {
				waitLog(t, d, "left for the next start")
			}
			if err := os.WriteFile(filepath.Join(d.root, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := e.result(t); got.Ref != "a" || got.Output != "finished\n" {
				t.Errorf("%+v", got)
			}
			if err := d.wait(t); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(d.root, "late")); !errors.Is(err, os.ErrNotExist) {
				t.Error("what came after the stop ran")
			}
			if got := d.m.Ended(); got != (Ended{Finished: 1}) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// waitLog waits until the daemon has logged text.
func waitLog(t *testing.T, d *daemon, text string) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for tick := time.NewTicker(2 * time.Millisecond); !strings.Contains(d.log.String(), text); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("%q was not logged", text)
		}
	}
}

func TestStopEndsWhatDoesNotFinishWithinTheGrace(t *testing.T) {
	e := newEngine(t, action.Known()...)
	d := startDaemon(t, e, func(o *Options) { o.DrainGrace = time.Millisecond })
	e.joined(t)
	e.exec(t, "a", "touch started; sleep 300", "")
	waitFile(t, filepath.Join(d.root, "started"))
	d.stop()
	failuretest.Produced(t, e.result(t).Failure, failure.Cancelled)
	if err := d.wait(t); err != nil {
		t.Error(err)
	}
}

func TestSecretsOfAnActionAreNotLogged(t *testing.T) {
	e := newEngine(t, action.Known()...)
	d := startDaemon(t, e)
	e.joined(t)
	e.exec(t, "a", `printf %s "$BRABO_GIT_TOKEN" | wc -c`, `,"env":{"BRABO_GIT_TOKEN":"s3cr3t-value"}`)
	if got := e.result(t); strings.TrimSpace(got.Output) != "12" {
		t.Errorf("%+v", got)
	}
	e.exec(t, "b", "ls", `,"env":{"BASH_ENV":"s3cr3t-value"}`)
	e.result(t)
	if strings.Contains(d.log.String(), "s3cr3t-value") || strings.Contains(d.log.String(), "ticket=x") {
		t.Error("a secret is in the log")
	}
	if !strings.Contains(d.log.String(), "printf %s") {
		t.Error("the command is not in the log")
	}
}

func waitFile(t *testing.T, path string) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not appear", path)
		}
	}
}

func TestAttemptsOfAllProjectsTogetherAreBounded(t *testing.T) {
	e := newEngine(t)
	e.refuse = func(int) string { return "unauthorized" }
	d := startDaemon(t, e, func(o *Options) { o.Attempts = 8 }) // two at once, then one every 7.5 s
	for range 2 {
		e.hear(t, "join")
	}
	d.stop()
	if err := d.wait(t); err != nil {
		t.Error(err)
	}
	if n := len(e.heard); n > 0 {
		t.Errorf("%d more attempts were made", n)
	}
}
