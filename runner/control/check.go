package control

import (
	"context"
	"net/http"

	"brabo.dev/runner/runner/failure"
)

// Verdict is how a check of `runner doctor` ended.
type Verdict string

// The verdicts.
const (
	Pass Verdict = "pass"
	Warn Verdict = "warn" // it works, and somebody should know
	Fail Verdict = "fail" // something does not work
)

// Finding is what one check found.
type Finding struct {
	Check   string           `json:"check"`
	Verdict Verdict          `json:"verdict"`
	Text    string           `json:"text,omitempty"`    // what was found, of a pass
	Failure *failure.Failure `json:"failure,omitempty"` // of the two others, with the next step
}

// Checks has the daemon examine itself and what it stands on. Failures are those of Status.
func (c *Client) Checks(ctx context.Context) ([]Finding, error) {
	var findings []Finding
	return findings, c.get(ctx, "/checks", &findings)
}

// answerChecks is the handler of GET /checks.
func answerChecks(checks func(context.Context) []Finding) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { answer(w, http.StatusOK, checks(r.Context())) }
}
