package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/hub"
)

// eventLines reads what `runner events --json` printed.
func eventLines(t *testing.T, out string) (events []hub.Event) {
	t.Helper()
	for line := range strings.Lines(out) {
		var e hub.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		events = append(events, e)
	}
	return events
}

func TestEventsAreChosenAndCounted(t *testing.T) {
	home, _, _ := ownHub(t)
	for range 2 {
		wants(t, home, 0, `said`, "propose", "terminal", "--project", "p", "--wait", "--", "echo", "said")
	}
	for _, decision := range []string{"approve", "approve", "approve", "deny"} {
		id := strings.Fields(wants(t, home, 0, `pending`, "propose", "terminal", "--project", "p", "--", "true"))[0]
		wants(t, home, 0, id, decision, id)
	}
	wants(t, home, 0, `(?m)^approved by people +3$\n^approved by the rules +2$`, "events", "--count")
	wants(t, home, 0, `"byPeople": ?3,\s*"byPolicy": ?2`, "events", "--count", "--json", "--project", "p")
	wants(t, home, 0, `"byPeople": ?0,\s*"byPolicy": ?0`, "events", "--count", "--json", "--project", "another")
	wants(t, home, 2, `count`, "events", "--count", "--follow")

	all := eventLines(t, wants(t, home, 0, `.`, "events", "--json", "-n", "1000"))
	for i, e := range all {
		if i > 0 && e.Seq != all[i-1].Seq+1 {
			t.Errorf("%d comes behind %d", e.Seq, all[i-1].Seq)
		}
	}
	if last := eventLines(t, wants(t, home, 0, `.`, "events", "--json", "-n", "3")); len(last) != 3 || last[0].Seq < all[len(all)-3].Seq {
		t.Errorf("the last three: %+v", last)
	}
	created := eventLines(t, wants(t, home, 0, `.`, "events", "--json", "--type", "proposed_action.created", "--since", "1h"))
	if len(created) != 6 {
		t.Errorf("%d were created", len(created))
	}
	middle := created[3].At.UTC().Format(time.RFC3339Nano)
	if later := eventLines(t, wants(t, home, 0, `.`, "events", "--json", "--type", "proposed_action.created", "--since", middle)); len(later) != 3 || later[0].Seq != created[3].Seq {
		t.Errorf("since %s: %+v", middle, later)
	}
	wants(t, home, 0, `^$`, "events", "--json", "--since", time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	wants(t, home, 2, `since`, "events", "--since", "yesterday")
	wants(t, home, 0, `(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +\d+ proposed_action\.denied +person ana `, "events", "--type", "proposed_action.denied")
}

// TestEventsAreFollowedOverARestartOfTheHub: none is missed, and none comes twice.
func TestEventsAreFollowedOverARestartOfTheHub(t *testing.T) {
	home := inHome(t)
	const owner = "owner-token-of-the-test"
	host := startHubHost(t, home, func(c *hub.Config) { c.PersonToken = owner })
	bounded, end := context.WithTimeout(t.Context(), time.Minute) // a line that never comes must not hold up the others' tests
	defer end()
	cmd := exec.CommandContext(bounded, os.Args[0], "events", "-f", "--json", "--since", "1h", "--type", "proposed_action.created")
	cmd.Env = []string{asCommand + "=1", "HOME=" + home, hubURLVariable + "=" + host.url, agentTokenVariable + "=" + owner}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	lines := bufio.NewScanner(out)
	last := int64(0)
	hears := func() {
		t.Helper()
		var e hub.Event
		if !lines.Scan() || json.Unmarshal(lines.Bytes(), &e) != nil || e.Type != "proposed_action.created" || e.Seq <= last {
			t.Fatalf("%s behind %d, %v", lines.Text(), last, lines.Err())
		}
		last = e.Seq
	}
	proposeText(t, host.hub, "true")
	hears()
	host.stop()
	host.start()
	for range 3 {
		proposeText(t, host.hub, "true")
	}
	for range 3 {
		hears()
	}
}
