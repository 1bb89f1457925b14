package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
)

// A client shows its person what a tool answers. What speaks of the command must not look like something else there;
// what the command has put out is content, and stays as it is.
func TestResultShowsWhatWouldBeHiddenOfACommand(t *testing.T) {
	const hidden = "rm '\u202etxt.\u2066'"
	for name, a := range map[string]hub.Action{
		"pending":   {Status: hub.Pending, Reason: "No entry allows this part of it: " + hidden},
		"denied":    {Status: hub.Denied, Reason: "An entry denies it: " + hidden},
		"by a word": {Status: hub.Denied, RejectionReason: "not " + hidden},
		"failed":    {Status: hub.Failed, Outcome: &hub.Outcome{Failure: failure.New(failure.PolicyDenied, hidden)}},
	} {
		r := resultOf(a)
		beside, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(r.call().Content)
		if err != nil {
			t.Fatal(err)
		}
		for _, said := range []string{string(beside), string(text), progress(a)} {
			if strings.ContainsAny(said, "\u202e\u2066") {
				t.Errorf("%s: %q", name, said)
			}
		}
		if !strings.Contains(string(text), "U+202E") {
			t.Errorf("%s: %s", name, text)
		}
	}
	done := resultOf(hub.Action{Status: hub.Executed, Outcome: &hub.Outcome{Output: hidden}})
	if text, err := json.Marshal(done.call().Content); err != nil || !strings.Contains(string(text), "\u202e") {
		t.Errorf("%s, %v", text, err)
	}
}
