package policy

import "testing"

// needlessGoal is the share of needless questions that the rules are to spare, in percent (section 18).
const needlessGoal = 95

func TestAnOrdinaryDayPassesWithoutNeedlessQuestions(t *testing.T) {
	passed, needless := spared(t)
	t.Logf("%d of %d needless questions are spared", passed, needless)
	if passed*100 < needless*needlessGoal {
		t.Errorf("%d of %d needless questions are spared, fewer than %d %%", passed, needless, needlessGoal)
	}
}

// BenchmarkEveryday is no time but a share: how many of the questions that an ordinary day need not ask are spared.
func BenchmarkEveryday(b *testing.B) {
	var passed, needless int
	for b.Loop() {
		passed, needless = spared(b)
	}
	b.ReportMetric(100*float64(passed)/float64(needless), "%-spared")
}

// spared counts the ordinary commands that need no question, and those of them that pass without one.
func spared(t testing.TB) (passed, needless int) {
	t.Helper()
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
	return passed, needless
}
