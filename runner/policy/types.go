package policy

import "slices"

// ActionType is one row of section 2: an action with an effect outside the agent's own head.
type ActionType struct {
	Type        string // as on the wire
	Label       string // as in a pattern
	MinimumRole Role
	Ceiling     Rule // empty where the type has none, or where it goes by command, path or target
}

// The roles, weakest first; each includes what the weaker ones may do (section 2).
const (
	Viewer     Role = "viewer"
	Developer  Role = "developer"
	Maintainer Role = "maintainer"
	Owner      Role = "owner"
)

// rank orders the roles; what is no role ranks below all of them.
func (r Role) rank() int {
	switch r {
	case Viewer:
		return 1
	case Developer:
		return 2
	case Maintainer:
		return 3
	case Owner:
		return 4
	}
	return 0
}

// AtLeast reports whether r includes what least may do. What is no role includes nothing.
func (r Role) AtLeast(least Role) bool { return r.rank() > 0 && r.rank() >= least.rank() }

// actionTypes is the table of section 2; it is never changed.
var actionTypes = [...]ActionType{
	{"terminal", "Terminal", Developer, ""},
	{"git_commit", "GitCommit", Developer, ""},
	{"write_file", "WriteFile", Developer, ""},
	{"git_push", "GitPush", Maintainer, CeilingTypedGit},
	{"pr_open", "PrOpen", Maintainer, CeilingTypedGit},
	{"git_repo_create", "GitRepoCreate", Maintainer, ""},
	{"git_branch_create", "GitBranchCreate", Maintainer, ""},
	{"git_branch_protect", "GitBranchProtect", Maintainer, ""},
	{"open_adr_pr", "OpenAdrPr", Maintainer, ""},
	{"open_infra_pr", "OpenInfraPr", Maintainer, ""},
	{"git_merge", "GitMerge", Maintainer, ""},
	{"instruction_patch", "InstructionPatch", Maintainer, CeilingInstructionPatch},
	{"parallelize", "Parallelize", Maintainer, CeilingParallelism},
	{"raise_max_parallel", "RaiseMaxParallel", Maintainer, CeilingParallelism},
	{"propose_execution_plan", "ProposeExecutionPlan", Maintainer, ""},
	{"assess_implementability", "AssessImplementability", Maintainer, ""},
	{"container_start", "ContainerStart", Maintainer, ""},
	{"container_stop", "ContainerStop", Maintainer, ""},
	{"container_remove", "ContainerRemove", Maintainer, CeilingContainerRemove},
	{"spend", "Spend", Owner, ""},
}

// Types are the 20 action types of section 2, in its order.
func Types() []ActionType { return slices.Clone(actionTypes[:]) }

func typeNamed(name string) (ActionType, bool) {
	for _, t := range actionTypes {
		if t.Type == name {
			return t, true
		}
	}
	return ActionType{}, false
}

func typeLabelled(label string) (ActionType, bool) {
	for _, t := range actionTypes {
		if t.Label == label {
			return t, true
		}
	}
	return ActionType{}, false
}

// The types whose fields Decide looks at.
const (
	typeTerminal  = "terminal"
	typeWriteFile = "write_file"
	typeGitMerge  = "git_merge"
)
