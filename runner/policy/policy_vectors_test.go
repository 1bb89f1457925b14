package policy

import (
	"regexp"
	"testing"
)

func TestDecideVectors(t *testing.T) {
	tail := regexp.MustCompile(`-?[0-9a-z]+$`)
	failed := map[string]int{}
	for _, file := range []string{"decide.jsonl", "everyday.jsonl"} {
		for _, v := range shipped(t, file) {
			d := v.Decide
			got, err := Decide(d.Action, d.Role, d.Autonomy, d.Permissions, d.Context)
			if err != nil {
				t.Fatalf("%s: %v", v.ID, err)
			}
			if got.Policy != d.Policy || got.Rule != d.Rule {
				failed[tail.ReplaceAllString(v.ID, "")]++
				t.Errorf("%s: %.300q\n   got %s/%s, want %s/%s: %s", v.ID, d.Action.Command, got.Policy, got.Rule, d.Policy, d.Rule, got.Reason)
			}
		}
	}
	if len(failed) > 0 {
		t.Logf("failed by prefix: %v", failed)
	}
}

func TestMatchVectors(t *testing.T) {
	for _, v := range shipped(t, "match.jsonl") {
		if got := Matches(v.Match.Pattern, v.Match.Command); got != v.Match.Match {
			t.Errorf("%s: %s on %q: got %v", v.ID, v.Match.Pattern, v.Match.Command, got)
		}
	}
}
