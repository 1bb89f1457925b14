package policy

import (
	"slices"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestAnActionIsBornByItsVerdict(t *testing.T) {
	for verdict, want := range map[Verdict]State{RequireApproval: Pending, AutoApprove: AutoApproved, Deny: Denied} {
		if got := Born(verdict); got != want {
			t.Errorf("%s is born %s, want %s", verdict, got, want)
		}
	}
}

// TestEveryTransition goes through all pairs: the table of section 12 holds the ones that exist.
func TestEveryTransition(t *testing.T) {
	table := map[State][]State{
		Pending:      {Approved, Denied},
		Approved:     {Executed, Failed},
		AutoApproved: {Executed, Failed},
		Denied:       {},
		Executed:     {},
		Failed:       {},
	}
	if len(table) != len(States()) {
		t.Fatalf("%d states, want %d", len(States()), len(table))
	}
	for _, from := range States() {
		if got, want := from.Final(), len(table[from]) == 0; got != want {
			t.Errorf("%s final: %v, want %v", from, got, want)
		}
		for _, to := range States() {
			t.Run(string(from+" to "+to), func(t *testing.T) {
				got, err := Advance("7", from, to)
				if slices.Contains(table[from], to) {
					if err != nil || got != to {
						t.Errorf("%s, %v", got, err)
					}
					return
				}
				failuretest.Produced(t, err, failure.InvalidTransition)
				if got != from {
					t.Errorf("a step that is none led to %s", got)
				}
			})
		}
	}
}

func TestNothingReachesAutoApprovedAfterBirth(t *testing.T) {
	for _, s := range States() {
		if slices.Contains(s.Next(), AutoApproved) {
			t.Errorf("%s does", s)
		}
	}
}

func TestAStartedActionCanEnd(t *testing.T) {
	for _, s := range []State{Approved, AutoApproved} {
		for _, end := range s.Next() {
			if !end.Final() {
				t.Errorf("%s leads to %s, which is no outcome", s, end)
			}
		}
	}
}

func TestAlwaysAllowAnswersByTheStateFound(t *testing.T) {
	for state, want := range map[State]Outcome{
		Pending: OutcomeApproved, Approved: OutcomeAlreadyApproved, AutoApproved: OutcomeAlreadyApproved,
		Executed: OutcomeAlreadyApproved, Failed: OutcomeAlreadyApproved,
	} {
		if got, err := AnswerAlways("7", state); err != nil || got != want {
			t.Errorf("%s: %s, %v", state, got, err)
		}
	}
	_, err := AnswerAlways("7", Denied)
	failuretest.Produced(t, err, failure.ActionDenied)
	_, err = AnswerAlways("7", "lost")
	failuretest.Produced(t, err, failure.Internal)
}
