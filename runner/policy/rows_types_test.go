package policy

import (
	"fmt"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// typeRows is the table of section 2. Ceilings that go by command, path or target have rows of their own elsewhere.
var typeRows = []struct {
	name, label string
	minimum     Role
	ceiling     Rule
}{
	{"terminal", "Terminal", Developer, ""},
	{"git_commit", "GitCommit", Developer, ""},
	{"write_file", "WriteFile", Developer, ""},
	{"git_push", "GitPush", Maintainer, "ceiling_typed_git"},
	{"pr_open", "PrOpen", Maintainer, "ceiling_typed_git"},
	{"git_repo_create", "GitRepoCreate", Maintainer, ""},
	{"git_branch_create", "GitBranchCreate", Maintainer, ""},
	{"git_branch_protect", "GitBranchProtect", Maintainer, ""},
	{"open_adr_pr", "OpenAdrPr", Maintainer, ""},
	{"open_infra_pr", "OpenInfraPr", Maintainer, ""},
	{"git_merge", "GitMerge", Maintainer, "ceiling_protected_merge"}, // here without a target branch
	{"instruction_patch", "InstructionPatch", Maintainer, "ceiling_instruction_patch"},
	{"parallelize", "Parallelize", Maintainer, "ceiling_parallelism"},
	{"raise_max_parallel", "RaiseMaxParallel", Maintainer, "ceiling_parallelism"},
	{"propose_execution_plan", "ProposeExecutionPlan", Maintainer, ""},
	{"assess_implementability", "AssessImplementability", Maintainer, ""},
	{"container_start", "ContainerStart", Maintainer, ""},
	{"container_stop", "ContainerStop", Maintainer, ""},
	{"container_remove", "ContainerRemove", Maintainer, "ceiling_container_remove"},
	{"spend", "Spend", Owner, ""},
}

// verdictOf decides and demands an answer that says something.
func verdictOf(t *testing.T, a Action, r Role, au Autonomy, p Permissions, c Context) Decision {
	t.Helper()
	d, err := Decide(a, r, au, p, c)
	if err != nil {
		t.Fatal(err)
	}
	if d.Reason == "" {
		t.Errorf("%+v by %s gives no reason", a, d.Rule)
	}
	return d
}

func TestEveryTypeHasItsRow(t *testing.T) {
	if len(Types()) != len(typeRows) {
		t.Fatalf("%d types, want %d", len(Types()), len(typeRows))
	}
	for i, row := range typeRows {
		t.Run(row.name, func(t *testing.T) {
			if got := Types()[i]; got.Type != row.name || got.Label != row.label || got.MinimumRole != row.minimum {
				t.Errorf("%+v, want %+v", got, row)
			}
			a := Action{Type: row.name}
			if row.name == "terminal" {
				a.Command = "ls"
			}
			for _, role := range []Role{"", Viewer, Developer, Maintainer, Owner} {
				want := Decision{Policy: RequireApproval, Rule: "default"}
				if !role.AtLeast(row.minimum) {
					want = Decision{Policy: Deny, Rule: "role_minimum"}
				}
				if got := verdictOf(t, a, role, Autonomy{}, Permissions{}, Context{}); got.Policy != want.Policy || got.Rule != want.Rule {
					t.Errorf("as %q: %s by %s, want %s by %s", role, got.Policy, got.Rule, want.Policy, want.Rule)
				}
			}
			// A file that says yes reaches the ceiling; a label speaks about its own type alone.
			got := verdictOf(t, a, Owner, Autonomy{}, Permissions{Allow: []string{entryFor(row.label)}}, Context{})
			want := Decision{Policy: AutoApprove, Rule: "file_allow"}
			if row.ceiling != "" {
				want = Decision{Policy: RequireApproval, Rule: row.ceiling}
			}
			if got.Policy != want.Policy || got.Rule != want.Rule {
				t.Errorf("allowed: %s by %s, want %s by %s", got.Policy, got.Rule, want.Policy, want.Rule)
			}
			for _, other := range typeRows {
				if other.label == row.label {
					continue
				}
				if got := verdictOf(t, a, Owner, Autonomy{}, Permissions{Deny: []string{entryFor(other.label)}}, Context{}); got.Rule != "default" {
					t.Errorf("%s speaks about %s: %s", entryFor(other.label), row.name, got.Rule)
				}
			}
			if got := verdictOf(t, a, Owner, Autonomy{Mode: AutoApprove}, Permissions{Deny: []string{entryFor(row.label)}}, Context{}); got.Rule != "file_deny" {
				t.Errorf("denied by its label: %s", got.Rule)
			}
			if got := verdictOf(t, a, Owner, Autonomy{Mode: AutoApprove}, Permissions{Ask: []string{entryFor(row.label)}}, Context{}); got.Rule != "file_ask" {
				t.Errorf("asked by its label: %s", got.Rule)
			}
		})
	}
}

func entryFor(label string) string {
	if label == "Terminal" {
		return "Terminal(ls)"
	}
	return label + "()"
}

func TestAnUnknownTypeIsABadRequest(t *testing.T) {
	for _, name := range []string{"Terminal", "container_start_via_runner", "git_push ", "deploy", ""} {
		_, err := Decide(Action{Type: name}, Owner, Autonomy{Mode: AutoApprove}, Permissions{}, Context{})
		f := failuretest.Produced(t, err, failure.UnknownActionType)
		if want := fmt.Sprintf("type %q", name); f.Subject != want {
			t.Errorf("%q, want %q", f.Subject, want)
		}
	}
}

func TestRolesIncludeTheWeakerOnes(t *testing.T) {
	order := []Role{Viewer, Developer, Maintainer, Owner}
	for i, r := range order {
		for j, least := range order {
			if got := r.AtLeast(least); got != (i >= j) {
				t.Errorf("%s at least %s: %v", r, least, got)
			}
		}
		for _, none := range []Role{"", "admin", "Owner"} {
			if none.AtLeast(r) {
				t.Errorf("%q is at least %s", none, r)
			}
		}
	}
}
