package runner

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/machinepolicy"
)

const rule = `,"deadlineMs":600000,"decision":{"kind":"policy","rule":"file_allow","at":"2026-12-02T08:00:00Z"}`

// held waits until n actions wait for the person, and gives them.
func (d *daemon) held(t *testing.T, n int) []control.Held {
	t.Helper()
	s := await(t, d.m, fmt.Sprintf("%d held actions", n), func(s control.Status) bool { return len(project(s).Held) == n })
	return project(s).Held
}

// unseen is a command that can't be told from its text; it says that it ran.
const unseen = "${X:-echo} ran"

// TestAttackApprovalThatNoPersonGave has a server send what only a person may decide, decided by a rule or by nobody.
func TestAttackApprovalThatNoPersonGave(t *testing.T) {
	for tried, rest := range map[string]string{"decided by a rule": rule, "decided by nobody": `,"deadlineMs":600000`} {
		for _, command := range []string{"sudo -n true", "git push --dry-run", "$X", "echo x >.git/hooks/pre-commit"} {
			t.Run(tried+": "+command, func(t *testing.T) {
				e := newEngine(t, action.Known()...)
				d := startDaemon(t, e)
				e.joined(t)
				e.exec(t, "a", command, rest)
				h := d.held(t, 1)[0]
				if h.Ref != "a" || h.Text != command || h.Cwd != d.root || h.Reason == "" || h.Answer != control.HeldWaits || project(d.m.Status()).Queued != 0 {
					t.Errorf("%+v", h)
				}
				if err := d.m.Confirm(h.ID, false); err != nil {
					t.Error(err)
				}
				failuretest.Produced(t, e.result(t).Failure, failure.ConfirmationRefused)
			})
		}
	}
}

func TestHeldActionRunsOnceTheOwnerAllowsIt(t *testing.T) {
	e := newEngine(t, action.Known()...)
	d := startDaemon(t, e)
	e.joined(t)
	e.exec(t, "a", unseen, rule)
	h := d.held(t, 1)[0]
	stage := func(want string) {
		t.Helper()
		var p action.ActionProgress
		if err := json.Unmarshal(e.hear(t, action.EventActionProgress).Payload, &p); err != nil || p.Ref != "a" || p.Stage != want {
			t.Errorf("%+v %v", p, err)
		}
	}
	stage(action.StageHeld)
	e.exec(t, "a", unseen, rule) // sent again after a restart of the server, which has forgotten
	stage(action.StageHeld)
	if err := d.m.Confirm(h.ID, true); err != nil {
		t.Fatal(err)
	}
	stage(action.StageConfirmed)
	if r := e.result(t); r.Output != "ran\n" {
		t.Errorf("%+v", r)
	}
	failuretest.Produced(t, d.m.Confirm(h.ID, true), failure.HeldActionNotFound)
	e.exec(t, "b", unseen, rule) // one word is for one action
	d.held(t, 1)
}

func TestWhatAPersonDecidedIsNotHeld(t *testing.T) {
	e := newEngine(t, action.Known()...)
	startDaemon(t, e)
	e.joined(t)
	e.exec(t, "a", unseen, person)
	if r := e.result(t); r.Output != "ran\n" {
		t.Errorf("%+v", r)
	}
	e.exec(t, "b", "echo ran", rule) // no person has to decide about it
	if r := e.result(t); r.Output != "ran\n" {
		t.Errorf("%+v", r)
	}
}

func TestHeldActionEndsByNameWhenNobodyAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Options)
		do     func(e *engine, d *daemon)
		want   failure.Name
	}{
		{"its time is over", func(o *Options) { o.ConfirmDeadline = 10 * time.Millisecond }, func(*engine, *daemon) {}, failure.ConfirmationExpired},
		{"the machine slept over it", nil, func(_ *engine, d *daemon) { d.held(t, 1); d.m.held.expire(time.Now().Add(time.Hour)) }, failure.ConfirmationExpired},
		{"the server cancels it", nil, func(e *engine, d *daemon) { d.held(t, 1); e.send(t, "exec_cancel", `{"ref":"a"}`) }, failure.Cancelled},
		{"the daemon stops", nil, func(_ *engine, d *daemon) { d.held(t, 1); d.stop() }, failure.Cancelled},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEngine(t, action.Known()...)
			change := c.change
			if change == nil {
				change = func(*Options) {}
			}
			d := startDaemon(t, e, change)
			e.joined(t)
			e.exec(t, "a", unseen, rule)
			c.do(e, d)
			failuretest.Produced(t, e.result(t).Failure, c.want)
			d.held(t, 0)
		})
	}
}

// TestServerThatDoesNotWaitIsAnsweredAtOnce plays a Brabo engine, which has a short clock and says nothing of who
// decided, on a machine whose owner trusts it less than usual.
func TestServerThatDoesNotWaitIsAnsweredAtOnce(t *testing.T) {
	e := newEngine(t)
	base := t.TempDir()
	d := startDaemonIn(t, e, base, withPolicy(t, base, `{"default":{"ceilings":{"unresolved":"confirm"}}}`))
	e.joined(t)
	if err := os.MkdirAll(filepath.Join(d.root, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	n := 0
	send := func(command, rest string) action.ExecResult {
		n++
		e.exec(t, fmt.Sprint(n), command, rest)
		return e.result(t)
	}
	wants := func(r action.ExecResult, name failure.Name) {
		t.Helper()
		if name == "" {
			if r.Failure != nil || r.Output != "ran\n" {
				t.Errorf("%+v", r)
			}
			return
		}
		failuretest.Produced(t, r.Failure, name)
	}
	wants(send(unseen, ""), failure.HeldForConfirmation)
	wants(send(unseen, ""), failure.HeldForConfirmation)
	h := d.held(t, 1)[0] // the second is the same
	if err := d.m.Confirm(h.ID, true); err != nil {
		t.Fatal(err)
	}
	if got := d.held(t, 1)[0]; got.Answer != control.HeldAllowed {
		t.Errorf("%+v", got)
	}
	wants(send("${X:-echo} ran  ", ""), failure.HeldForConfirmation) // another text
	wants(send(unseen, fmt.Sprintf(`,"cwd":%q`, filepath.Join(d.root, "sub"))), failure.HeldForConfirmation)
	wants(send(unseen, ""), "")
	wants(send(unseen, ""), failure.HeldForConfirmation) // it passed once

	held := d.held(t, 3)
	i := slices.IndexFunc(held, func(h control.Held) bool { return h.Text == unseen && h.Cwd == d.root })
	if err := d.m.Confirm(held[i].ID, false); err != nil {
		t.Fatal(err)
	}
	wants(send(unseen, ""), failure.ConfirmationRefused)
	// What is no Bash runs into the shell's own error, as an engine's git work does.
	if r := send("if then", ""); r.Failure != nil || r.ExitCode < 1 {
		t.Errorf("%+v", r)
	}
}

func TestServerThatAsksAPersonItselfIsTrustedByDefault(t *testing.T) {
	e := newEngine(t)
	startDaemon(t, e)
	e.joined(t)
	e.exec(t, "a", unseen, "")
	if r := e.result(t); r.Output != "ran\n" {
		t.Errorf("%+v", r)
	}
}

// TestNotDefendedPathsOutsideAreTheServersToAskAbout: an agent in auto mode reaches outside without a question, and a decision
// does not say whether it is in that mode. SECURITY.md says so.
func TestNotDefendedPathsOutsideAreTheServersToAskAbout(t *testing.T) {
	e := newEngine(t, action.Known()...)
	startDaemon(t, e)
	e.joined(t)
	e.exec(t, "a", "ls / >/dev/null && echo ran", rule)
	if r := e.result(t); r.Output != "ran\n" {
		t.Errorf("%+v", r)
	}
}

// TestAttackRulesChangedWhileThePersonDecides judges a held action anew: what was fit then may not be now.
func TestAttackRulesChangedWhileThePersonDecides(t *testing.T) {
	e := newEngine(t, action.Known()...)
	path := filepath.Join(t.TempDir(), machinepolicy.FileName)
	d := startDaemon(t, e, func(o *Options) { o.Lock = (&machinepolicy.Files{Own: path}).Lock })
	e.joined(t)
	e.exec(t, "a", unseen, rule)
	h := d.held(t, 1)[0]
	if err := os.WriteFile(path, []byte(`{"default":{"ceilings":{"unresolved":"refuse"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	failuretest.Produced(t, d.m.Confirm(h.ID, true), failure.MachinePolicyRefused)
	failuretest.Produced(t, e.result(t).Failure, failure.MachinePolicyRefused)
}

// TestAttackMoreHeldActionsThanAPersonCanRead bounds what a server can pile up before the person.
func TestAttackMoreHeldActionsThanAPersonCanRead(t *testing.T) {
	e := newEngine(t, action.Known()...)
	d := startDaemon(t, e, func(o *Options) { o.Commands.Queue = 3 })
	e.joined(t)
	for i := range 4 {
		e.exec(t, fmt.Sprint(i), unseen, rule)
	}
	r := e.result(t)
	if r.Ref != "3" {
		t.Errorf("%+v", r)
	}
	failuretest.Produced(t, r.Failure, failure.QueueFull)
	d.held(t, 3)
}

func TestHeldTypedActionsAndContainersAreShownInFull(t *testing.T) {
	e := newEngine(t, action.Known()...)
	d := startDaemon(t, e)
	e.joined(t)
	e.send(t, "container_remove", `{"ref":"a","workspaceDirName":"shop"`+rule+`}`)
	h := d.held(t, 1)[0]
	if h.Event != "container_remove" || h.Text != `container_remove "shop"` {
		t.Errorf("%+v", h)
	}
	if err := d.m.Confirm(h.ID, true); err != nil {
		t.Fatal(err)
	}
	failuretest.Produced(t, e.answer(t, "container_remove_result"), failure.EngineNotInstalled) // it went on
}

// TestAttackHeldActionThatHidesWhatItDoes: a person decides about what was understood, whatever stood around it.
func TestAttackHeldActionThatHidesWhatItDoes(t *testing.T) {
	e := newEngine(t, action.Known()...)
	d := startDaemon(t, e, func(o *Options) { o.Git = testGit(t) })
	e.joined(t)
	e.send(t, "action", `{"zz":"`+strings.Repeat("x", 3000)+`","ref":"a","type":"git_push","params":{"branch":"main"}`+rule+`}`)
	if h := d.held(t, 1)[0]; !strings.Contains(h.Text, `"Branch":"main"`) || strings.Contains(h.Text, "xxx") {
		t.Errorf("%+v", h)
	}
	e.exec(t, "b", unseen, `,"env":{"DEPLOY":"./destroy"}`+rule)
	if h := d.held(t, 2); !slices.ContainsFunc(h, func(h control.Held) bool { return h.Ref == "b" && strings.Contains(h.Text, "DEPLOY") }) {
		t.Errorf("%+v", h)
	}
	content := func(env string) [sha256.Size]byte {
		t.Helper()
		sum, err := contentOf("exec", json.RawMessage(`{"ref":"x","command":"$DEPLOY","env":`+env+`}`))
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	if content(`{"DEPLOY":"echo"}`) == content(`{"DEPLOY":"./destroy"}`) {
		t.Error("one word passes for both")
	}
	if content(`{"BRABO_GIT_TOKEN":"one"}`) != content(`{"BRABO_GIT_TOKEN":"two"}`) {
		t.Error("a credential is another one each time")
	}
}
