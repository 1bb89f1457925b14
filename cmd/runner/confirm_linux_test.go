package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/control"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/machinepolicy"
	"brabo.dev/runner/runner/settings"
)

// lockHome writes the policy.json of a home.
func lockHome(t *testing.T, home, text string) {
	t.Helper()
	if err := settings.WriteFile(filepath.Join(home, ".config", "runner", machinepolicy.FileName), []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// awaitTrue waits until something that is told later is so.
func awaitTrue(t *testing.T, what string, so func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
		if so() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("never: " + what)
		}
	}
}

// awaitHeld waits until the daemon of home holds an action, and gives it.
func awaitHeld(t *testing.T, home, ref string) control.Held {
	t.Helper()
	var held control.Held
	awaitStatus(t, home, func(s control.Status) bool {
		for _, p := range s.Projects {
			for _, h := range p.Held {
				if h.Ref == ref {
					held = h
					return true
				}
			}
		}
		return false
	})
	return held
}

// unseen is a command that can't be told from its text. The test's hub lets it pass by a rule, which no real one does.
const unseen = "${X:-touch} made; echo ran"

func TestPersonConfirmsAtTheMachine(t *testing.T) {
	home := inHome(t)
	wants(t, home, 1, `daemon_not_running`, "confirm")
	h, url, root, _ := startHub(t, home, func(c *hub.Config) { c.ActionDeadline = 10 * time.Minute })
	startProcess(t, home, root, url, func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "RUNNER_CONFIRM_DEADLINE=7m") })
	awaitRunner(t, h)
	wants(t, home, 0, `^nothing waits for you at this machine\n$`, "confirm")
	wants(t, home, 0, `^\[\]\n$`, "confirm", "--json")

	id := proposeText(t, h, unseen)
	held := awaitHeld(t, home, id)
	if d := held.Until.Sub(held.Since); d != 7*time.Minute {
		t.Errorf("it waits for %s", d)
	}
	wants(t, home, 0, `(?s)^`+held.ID+`  exec of project p.*\n    \$\{X:-touch\} made; echo ran\n    in `+root+`\n    because .*can not be told`, "confirm")
	wants(t, home, 0, id+` waits for you: .runner confirm`, "status")
	var list []control.Held
	if err := json.Unmarshal([]byte(wants(t, home, 0, `.`, "confirm", "--json")), &list); err != nil || len(list) != 1 || list[0].ID != held.ID {
		t.Errorf("%+v %v", list, err)
	}
	if _, err := os.Stat(filepath.Join(root, "made")); err == nil {
		t.Error("it ran before it was allowed")
	}
	// The hub shows it and can't confirm it.
	shown := func(id string, held bool) bool {
		a, err := h.Get(id)
		return err == nil && a.Held == held
	}
	awaitTrue(t, "the hub shows that it waits", func() bool { return shown(id, true) })
	wants(t, home, 1, `held_action_not_found`, "confirm", "allow", "nothing")
	wants(t, home, 0, `^\{"id":"`+held.ID+`",.*\}\n$`, "confirm", "allow", held.ID, "--json")
	if a := awaitAction(t, h, id); a.Status != hub.Executed || a.Outcome.Output != "ran\n" || a.Held {
		t.Errorf("%+v", a)
	}
	wants(t, home, 1, `held_action_not_found`, "confirm", "allow", held.ID)

	id = proposeText(t, h, unseen)
	wants(t, home, 0, `^$`, "confirm", "refuse", awaitHeld(t, home, id).ID)
	failuretest.Produced(t, awaitAction(t, h, id).Outcome.Failure, failure.ConfirmationRefused)
	id = proposeText(t, h, unseen)
	held = awaitHeld(t, home, id)
	wants(t, home, 0, `^\{"id":"`+held.ID+`",.*\}\n$`, "confirm", "refuse", held.ID, "--json")
	failuretest.Produced(t, awaitAction(t, h, id).Outcome.Failure, failure.ConfirmationRefused)
	wants(t, home, 2, `.`, "confirm", "allow")
	wants(t, home, 2, `.`, "confirm", "perhaps")
}

// TestAttackHeldActionThatConfirmsItself has an allowed command ask the socket, by a program of another name.
func TestAttackHeldActionThatConfirmsItself(t *testing.T) {
	home := inHome(t)
	h, url, root, _ := startHub(t, home)
	startProcess(t, home, root, url)
	awaitRunner(t, h)
	id := proposeText(t, h, unseen)
	held := awaitHeld(t, home, id)

	// By its name it is refused before it starts.
	direct := awaitAction(t, h, proposeText(t, h, os.Args[0]+" confirm allow "+held.ID))
	failuretest.Produced(t, direct.Outcome.Failure, failure.SteersTheJudge)
	// In a script it starts, and the socket does not listen to it.
	script := "env " + asCommand + "=1 " + os.Args[0] + " confirm allow " + held.ID + "\n"
	for name, text := range map[string]string{"child.sh": script, "orphan.sh": "(setsid sh child.sh >said.part 2>&1; mv said.part said) &\nwhile [ ! -e said ]; do sleep 0.01; done; cat said\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"child.sh", "orphan.sh"} {
		a := awaitAction(t, h, proposeText(t, h, "sh "+name))
		if a.Outcome == nil || !strings.Contains(a.Outcome.Output, string(failure.ControlRefused)) {
			t.Errorf("%s: %+v", name, a.Outcome)
		}
	}
	if got := awaitHeld(t, home, id); got.Answer != control.HeldWaits {
		t.Errorf("%+v", got)
	}
}

func TestHeldActionEndsByNameAfterACrash(t *testing.T) {
	home := inHome(t)
	h, url, root, _ := startHub(t, home)
	first := startProcess(t, home, root, url)
	awaitRunner(t, h)
	id := proposeText(t, h, unseen)
	awaitHeld(t, home, id)
	first.kill()
	startProcess(t, home, root, url)
	failuretest.Produced(t, awaitAction(t, h, id).Outcome.Failure, failure.ExpiredBeforeStart)
	if _, err := os.Stat(filepath.Join(root, "made")); err == nil {
		t.Error("it ran")
	}
}

// TestAttackPolicyThatIsNotUnderstood starts daemons whose lock is broken; none may serve.
func TestAttackPolicyThatIsNotUnderstood(t *testing.T) {
	home := inHome(t)
	path := filepath.Join(home, ".config", "runner", machinepolicy.FileName)
	for tried, spoil := range map[string]func(){
		"a misspelt member":  func() { lockHome(t, home, "{\n  \"defualt\": {}\n}") },
		"half a file":        func() { lockHome(t, home, `{"default":`) },
		"a pattern for none": func() { lockHome(t, home, `{"default":{"deny":["Terminal()"]}}`) },
		"a mode for all": func() {
			lockHome(t, home, `{}`)
			if err := os.Chmod(path, 0o644); err != nil {
				t.Fatal(err)
			}
		},
		"a link": func() {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("/dev/null", path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		lockHome(t, home, `{}`)
		spoil()
		out, code := command(t, home, "run", "--project", "p", "--dir", filepath.Join(home, "project"), "--api-url", "http://127.0.0.1:1", "--token", testToken)
		if code != exitUsage || !strings.Contains(out, string(failure.MachinePolicyInvalid)+": "+path) {
			t.Errorf("%s: %d %s", tried, code, out)
		}
	}
}

// TestAttackPolicyThatACommandTakesAway has an allowed script remove the lock: nothing runs without it any more.
func TestAttackPolicyThatACommandTakesAway(t *testing.T) {
	home := inHome(t)
	lockHome(t, home, `{"default":{"deny":["Terminal(curl)"]}}`)
	h, url, root, _ := startHub(t, home)
	startProcess(t, home, root, url)
	awaitRunner(t, h)
	if err := os.WriteFile(filepath.Join(root, "x.sh"), []byte("rm ../.config/runner/policy.json\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if a := awaitAction(t, h, proposeText(t, h, "sh x.sh")); a.Status != hub.Executed {
		t.Errorf("%+v", a.Outcome)
	}
	failuretest.Produced(t, awaitAction(t, h, proposeText(t, h, "echo ran")).Outcome.Failure, failure.MachinePolicyInvalid)
	wants(t, home, exitDegraded, `error: machine_policy_invalid`, "status")
}
