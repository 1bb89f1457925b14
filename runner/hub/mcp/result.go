package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"brabo.dev/runner/runner/hub"
	"brabo.dev/runner/runner/shown"
)

// Result is what a tool returns beside its text.
type Result struct {
	ID       string `json:"id" jsonschema:"the action, for action_status"`
	Status   string `json:"status" jsonschema:"pending, approved, auto_approved, denied, executed or failed"`
	Reason   string `json:"reason,omitempty" jsonschema:"why it was decided so"`
	ExitCode *int   `json:"exit_code,omitempty" jsonschema:"of a command; left out where there is none"`
	TimedOut bool   `json:"timed_out,omitempty"`
	Failure  string `json:"failure,omitempty" jsonschema:"what went wrong, by name, with cause and next step"`
	Result   any    `json:"result,omitempty" jsonschema:"what a typed action answered"`

	output string
}

func resultOf(a hub.Action) Result {
	r := Result{ID: a.ID, Status: string(a.Status), Reason: visible(a.Reason)}
	if a.RejectionReason != "" {
		r.Reason = visible(a.RejectionReason)
	}
	if o := a.Outcome; o != nil {
		r.ExitCode, r.TimedOut, r.output = o.ExitCode, o.TimedOut, o.Output
		if o.Failure != nil {
			r.Failure = visible(o.Failure.Error())
		}
		var value any
		if len(o.Result) > 0 && json.Unmarshal(o.Result, &value) == nil {
			r.Result = value
		}
	}
	return r
}

// visible shows what a client's person would not see of text that may have parts of a command in it.
func visible(text string) string { return strings.Join(shown.Lines(text), "\n") }

// progress is what a client hears while an action waits.
func progress(a hub.Action) string {
	return fmt.Sprintf("action %s is %s: %s", a.ID, a.Status, visible(a.Reason))
}

// call is the result as the model reads it. What did not happen is an error, so that it is not taken for done.
func (r Result) call() *mcp.CallToolResult {
	var text strings.Builder
	text.WriteString(r.output)
	if text.Len() > 0 && !strings.HasSuffix(text.String(), "\n") {
		text.WriteString("\n")
	}
	switch {
	case r.Status == string(hub.Denied):
		fmt.Fprintf(&text, "[denied: %s]", r.Reason)
	case r.Status == string(hub.Executed):
		if r.ExitCode != nil {
			fmt.Fprintf(&text, "[exit code %d]", *r.ExitCode)
		} else {
			text.WriteString("[done]")
		}
	case r.Status == string(hub.Failed):
		switch {
		case r.Failure != "":
			fmt.Fprintf(&text, "[failed: %s]", r.Failure)
		case r.ExitCode != nil:
			fmt.Fprintf(&text, "[exit code %d]", *r.ExitCode)
		default:
			text.WriteString("[failed]")
		}
	default:
		fmt.Fprintf(&text, "[action %s is %s (%s); ask for its outcome with action_status]", r.ID, r.Status, r.Reason)
	}
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: text.String()}},
		IsError: r.Status == string(hub.Denied) || r.Status == string(hub.Failed),
	}
}
