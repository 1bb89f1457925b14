package policy

import (
	"fmt"
	"slices"

	"brabo.dev/runner/runner/failure"
)

// State is where a proposed action stands (section 12).
type State string

// The states. Denied, Executed and Failed are final.
const (
	Pending      State = "pending"
	Approved     State = "approved"
	Denied       State = "denied"
	AutoApproved State = "auto_approved"
	Executed     State = "executed"
	Failed       State = "failed"
)

// States lists all of them.
func States() []State {
	return []State{Pending, Approved, Denied, AutoApproved, Executed, Failed}
}

// Born is the state in which an action begins after that verdict.
func Born(v Verdict) State {
	switch v {
	case AutoApprove:
		return AutoApproved
	case Deny:
		return Denied
	}
	return Pending
}

// Next lists the states that may follow s: none where s is final.
func (s State) Next() []State {
	switch s {
	case Pending:
		return []State{Approved, Denied}
	case Approved, AutoApproved:
		return []State{Executed, Failed}
	}
	return nil
}

// Final reports whether nothing may follow s.
func (s State) Final() bool { return len(s.Next()) == 0 }

// Advance moves the action called id from one state to another; failure.InvalidTransition where the machine has no
// such step.
func Advance(id string, from, to State) (State, error) {
	if slices.Contains(from.Next(), to) {
		return to, nil
	}
	f := failure.New(failure.InvalidTransition, "action "+id)
	if from.Final() {
		return from, f.Because("it is %s, which is final, and can't become %s", from, to)
	}
	return from, f.Because("it is %s and can become %s, not %s", from, either(from.Next()), to)
}

func either(states []State) string { return fmt.Sprintf("%s or %s", states[0], states[1]) }

// Outcome is what "always allow" answers, in the words of the wire (section 11).
type Outcome string

// The two outcomes that are a success.
const (
	OutcomeApproved        Outcome = "aprovada"
	OutcomeAlreadyApproved Outcome = "ja_aprovada"
)

// AnswerAlways is the answer of "always allow" to the action called id, found in that state: approve it, do nothing
// because it was approved before, or failure.ActionDenied. What may be remembered is Remember's affair.
func AnswerAlways(id string, found State) (Outcome, error) {
	switch found {
	case Pending:
		return OutcomeApproved, nil
	case Approved, AutoApproved, Executed, Failed:
		return OutcomeAlreadyApproved, nil
	case Denied:
		return "", failure.New(failure.ActionDenied, "action "+id)
	}
	return "", failure.New(failure.Internal, "action "+id).Because("there is no state %q", found)
}
