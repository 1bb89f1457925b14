package policy

import "testing"

// needlessGoal is the share of needless questions that the rules are to spare, in percent (section 18).
const needlessGoal = 95

func TestAnOrdinaryDayPassesWithoutNeedlessQuestions(t *testing.T) {
	needless, passed := 0, 0
	for _, v := range shipped(t, "everyday.jsonl") {
		d, err := Decide(v.Decide.Action, v.Decide.Role, v.Decide.Autonomy, v.Decide.Permissions, v.Decide.Context)
		if err != nil {
			t.Fatal(err)
		}
		approved := d.Policy == AutoApprove
		switch {
		case v.Decide.Needless:
			needless++
			if approved {
				passed++
			}
		case approved:
			t.Errorf("%s passes although a person should see it: %s", v.ID, v.Decide.Action.Command)
		}
	}
	t.Logf("%d of %d needless questions are spared", passed, needless)
	if passed*100 < needless*needlessGoal {
		t.Errorf("%d of %d needless questions are spared, fewer than %d %%", passed, needless, needlessGoal)
	}
}
