package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/policy"
)

// TestProposersThatWaitOutliveARestartOfTheHub has an MCP client and a command wait for a person, starts the hub again, and
// decides then: each gets the person's word, and the action is known by its id.
func TestProposersThatWaitOutliveARestartOfTheHub(t *testing.T) {
	home := inHome(t)
	host := startHubHost(t, home, func(c *hub.Config) { c.Decider = nil })
	if err := os.MkdirAll(host.root, 0o700); err != nil {
		t.Fatal(err)
	}
	owner := hub.Principal{Kind: "person", ID: hubOwner, Role: policy.Owner}
	token, err := host.hub.AddAgent(owner, "p", "coder")
	if err != nil {
		t.Fatal(err)
	}
	progress := make(chan string, 100)
	s := connect(t, home, host.url, token, progress)
	type answer struct {
		text   string
		failed bool
	}
	answered := make(chan answer, 1)
	go func() {
		text, failed := call(t, s, "run_command", map[string]any{"command": "make all"})
		answered <- answer{text, failed}
	}()
	var byTool string
	select {
	case message := <-progress:
		byTool = regexp.MustCompile(`action (\S+) is pending`).FindStringSubmatch(message)[1]
	case a := <-answered:
		t.Fatalf("it did not wait: %+v", a)
	case <-time.After(time.Minute):
		t.Fatal("no progress was reported")
	}
	t.Setenv(hubURLVariable, host.url)
	t.Setenv(agentTokenVariable, token)
	c := start(t, "propose", "terminal", "--wait", "--", "make check")
	var byCommand string
	for late, tick := time.Now().Add(time.Minute), time.NewTicker(2*time.Millisecond); byCommand == ""; <-tick.C {
		if m := regexp.MustCompile(`action (\S+) is pending`).FindStringSubmatch(c.String()); m != nil {
			byCommand = m[1]
		}
		if time.Now().After(late) {
			t.Fatalf("it does not wait:\n%s", c)
		}
	}

	host.stop()
	host.start()
	for id, reason := range map[string]string{byTool: "use go build", byCommand: "use go test"} {
		if a, err := host.hub.Get(id); err != nil || a.Status != hub.Pending || a.ProposedBy.ID != "coder" {
			t.Errorf("%+v, %v", a, err)
		}
		if _, err := host.hub.Deny(id, hubOwner, reason); err != nil {
			t.Fatal(err)
		}
	}
	if a := <-answered; !a.failed || a.text != "[denied: use go build]" {
		t.Errorf("%+v", a)
	}
	if code := c.code(t); code != exitDenied || !strings.Contains(c.String(), "use go test") {
		t.Errorf("exit %d:\n%s", code, c)
	}
	if text, failed := call(t, s, "action_status", map[string]any{"id": byCommand}); !failed || text != "[denied: use go test]" {
		t.Errorf("%v %q", failed, text)
	}
}

// TestTimeoutBoundsTheAction: what was proposed with --timeout is ended by it.
func TestTimeoutBoundsTheAction(t *testing.T) {
	home, _, _ := ownHub(t)
	out := wants(t, home, 0, `"deadlineMs": ?1000`, "propose", "terminal", "--project", "p", "--json", "--timeout", "1s", "--", "sleep 300")
	var a hub.Action
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		t.Fatal(err)
	}
	wants(t, home, 0, a.ID, "approve", a.ID)
	c, err := (&hubFlags{}).client()
	if err != nil {
		t.Fatal(err)
	}
	if a, err = c.Wait(t.Context(), a.ID); err != nil || a.Status != hub.Failed || a.Outcome == nil || !a.Outcome.TimedOut {
		t.Errorf("%+v, %v", a, err)
	}
	wants(t, home, 1, `invalid_deadline`, "propose", "terminal", "--project", "p", "--timeout", "1ms", "--", "true")
}
