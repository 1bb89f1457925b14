package policy

import (
	"bytes"
	"encoding/json"

	"brabo.dev/runner/runner/failure"
)

// Merge is a git_merge that was proposed in the project (section 13).
type Merge struct {
	ID          string // of the action
	PullRequest string // as PullRequestID gives it
	State       State
	Merged      bool // it is executed, with a result whose state is "merged"
}

// RefuseMerge gives the reason why a merge of that pull request can't go on, or nil: failure.AlreadyMerged, or
// failure.MergeAlreadyProposed where one waits or runs. Without a pull request there is nothing to compare.
//
// It is asked when a merge is proposed, with self empty, and again when it is approved, with its own id as self,
// since it doesn't count itself.
func RefuseMerge(pullRequest, self string, project []Merge) error {
	if pullRequest == "" {
		return nil
	}
	open := false
	for _, m := range project {
		if m.PullRequest != pullRequest || m.ID == self && self != "" {
			continue
		}
		switch m.State {
		case Executed:
			if m.Merged {
				return failure.New(failure.AlreadyMerged, "pull request "+pullRequest)
			}
		case Pending, Approved, AutoApproved:
			open = true
		}
	}
	if open {
		return failure.New(failure.MergeAlreadyProposed, "pull request "+pullRequest)
	}
	return nil
}

// PullRequestID is the pullRequestId of a proposal, which may be text or a number, as text. It is empty for null, for
// no value, and for what is neither.
func PullRequestID(raw json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var id any
	if err := dec.Decode(&id); err != nil {
		return ""
	}
	switch id := id.(type) {
	case string:
		return id
	case json.Number:
		return id.String()
	}
	return ""
}
