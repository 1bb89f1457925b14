package policy

import (
	"encoding/json"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestAMergeIsRefusedWhereItsPullRequestHasOne(t *testing.T) {
	one := func(s State, merged bool) []Merge {
		return []Merge{{ID: "a", PullRequest: "12", State: s, Merged: merged}}
	}
	const none failure.Name = ""
	for _, tc := range []struct {
		name, pullRequest, self string
		project                 []Merge
		want                    failure.Name
	}{
		{"nothing before", "12", "", nil, none},
		{"merged", "12", "", one(Executed, true), failure.AlreadyMerged},
		{"executed and not merged", "12", "", one(Executed, false), none},
		{"pending", "12", "", one(Pending, false), failure.MergeAlreadyProposed},
		{"approved", "12", "", one(Approved, false), failure.MergeAlreadyProposed},
		{"auto-approved", "12", "", one(AutoApproved, false), failure.MergeAlreadyProposed},
		{"denied before", "12", "", one(Denied, false), none},
		{"failed before", "12", "", one(Failed, false), none},
		{"another pull request", "13", "", one(Executed, true), none},
		{"without a pull request", "", "", []Merge{{ID: "a", State: Pending}}, none},
		{"merged is named first", "12", "", append(one(Pending, false), one(Executed, true)...), failure.AlreadyMerged},
		{"it does not count itself when approved", "12", "a", one(Pending, false), none},
		{"but another", "12", "b", one(Pending, false), failure.MergeAlreadyProposed},
		{"nor an approved one that was merged meanwhile", "12", "b", one(Executed, true), failure.AlreadyMerged},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := RefuseMerge(tc.pullRequest, tc.self, tc.project)
			if tc.want == none {
				if err != nil {
					t.Error(err)
				}
				return
			}
			failuretest.Produced(t, err, tc.want)
		})
	}
}

func TestTheTwoMergeRefusalsCarryTheCodesOfTheWire(t *testing.T) {
	failuretest.Produced(t, RefuseMerge("1", "", []Merge{{PullRequest: "1", State: Executed, Merged: true}}), failure.AlreadyMerged)
	failuretest.Produced(t, RefuseMerge("1", "", []Merge{{PullRequest: "1", State: Pending}}), failure.MergeAlreadyProposed)
	_, err := AnswerAlways("1", Denied)
	failuretest.Produced(t, err, failure.ActionDenied)
	for got, want := range map[failure.Name]string{
		failure.AlreadyMerged: "pr_ja_mergeado", failure.MergeAlreadyProposed: "merge_ja_proposto", failure.ActionDenied: "acao_ja_recusada",
	} {
		if string(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestPullRequestsAreComparedAsText(t *testing.T) {
	for raw, want := range map[string]string{`"12"`: "12", `12`: "12", `12345678901234567890`: "12345678901234567890", `"abc"`: "abc", `null`: "", ``: "", `{}`: "", `true`: ""} {
		if got := PullRequestID(json.RawMessage(raw)); got != want {
			t.Errorf("%s is %q, want %q", raw, got, want)
		}
	}
}
