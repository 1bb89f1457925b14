package policy

import (
	"strings"
	"testing"
)

// autoMode is consent to everything that no ceiling keeps back.
var autoMode = Autonomy{Mode: AutoApprove, Origin: "wildcard"}

// externalRows is the table of section 8.
var externalRows = map[string][]string{
	"git_push":        {"git push", "git remote add", "git remote set-url", "git subtree push", "git send-pack", "git lfs push", "git svn dcommit"},
	"git_merge":       {"git merge", "gh pr merge", "glab mr merge"},
	"pr_open":         {"gh pr create", "glab mr create"},
	"git_repo_create": {"gh repo create"},
	"deploy": {"gh release create", "gh workflow run", "glab release create", "kubectl apply", "kubectl delete", "kubectl rollout",
		"helm install", "helm upgrade", "terraform apply", "terraform destroy", "docker push", "npm publish", "pnpm publish",
		"flyctl deploy", "fly deploy",
		"gh repo delete", "yarn publish", "yarn npm publish", "bun publish", "cargo publish", "gem push", "twine upload",
		"mix hex.publish", "poetry publish", "uv publish", "podman push"},
}

func TestEveryExternalEffectIsDecidedByAPerson(t *testing.T) {
	rows := 0
	for way, prefixes := range externalRows {
		for _, prefix := range prefixes {
			rows++
			words := strings.Fields(prefix)
			last := words[len(words)-1]
			front := strings.Join(words[:len(words)-1], " ")
			for _, command := range []string{
				prefix,
				prefix + " x y",
				words[0] + " --flag " + strings.Join(words[1:], " "),       // a flag
				words[0] + " --flag value " + strings.Join(words[1:], " "), // a flag and its value
				front + " -x " + last,
				front + ` "$X"`,
				front + " $(echo x)",
				"/usr/bin/" + prefix,
				"cd x && " + prefix,
				"timeout 5 " + prefix,
				"bash -c '" + prefix + "'",
				"env " + prefix,
			} {
				got := verdictOf(t, Action{Type: "terminal", Command: command}, Owner, autoMode, Permissions{}, Context{})
				if got.Policy != RequireApproval || got.Rule != "ceiling_external_effect" {
					t.Errorf("%s: %s by %s", command, got.Policy, got.Rule)
				}
				if !strings.Contains(command, "$") && !strings.Contains(got.Reason, way) {
					t.Errorf("%s: the reason does not name %s: %s", command, way, got.Reason)
				}
			}
			for _, command := range []string{prefix + "x", words[0] + " help " + last, "echo " + prefix} {
				if got := verdictOf(t, Action{Type: "terminal", Command: command}, Owner, autoMode, Permissions{}, Context{}); got.Rule == "ceiling_external_effect" {
					t.Errorf("%s: %s by %s", command, got.Policy, got.Rule)
				}
			}
		}
	}
	if rows != 39 {
		t.Errorf("%d prefixes, want 39", rows)
	}
}

func TestPrivilegeIsDecidedByAPerson(t *testing.T) {
	for command, want := range map[string]Rule{
		"sudo ls": "ceiling_privileged", "doas ls": "ceiling_privileged", "/usr/bin/sudo ls": "ceiling_privileged", "ls; sudo ls": "ceiling_privileged",
		"sudo git push": "ceiling_external_effect", "echo sudo": "autonomy_auto_approve", "sudoedit x": "autonomy_auto_approve",
	} {
		if got := verdictOf(t, Action{Type: "terminal", Command: command}, Owner, autoMode, Permissions{}, Context{}); got.Rule != want {
			t.Errorf("%s: %s, want %s", command, got.Rule, want)
		}
	}
}

func TestMergesIntoProtectedBranchesAreDecidedByAPerson(t *testing.T) {
	for branch, protected := range map[string]bool{
		"dev": true, "qa": true, "rc": true, "main": true, "": true, " ": true, " main\n": true, "refs/heads/main": true, "refs/heads/": true,
		"Main": false, "master": false, "feature/main": false, "main2": false, "refs/heads/x": false, "heads/main": false,
	} {
		got := verdictOf(t, Action{Type: "git_merge", TargetBranch: branch}, Owner, autoMode, Permissions{Allow: []string{"GitMerge()"}}, Context{})
		if (got.Rule == "ceiling_protected_merge") != protected {
			t.Errorf("into %q: %s by %s", branch, got.Policy, got.Rule)
		}
	}
}

// TestNoSettingReachesPastACeiling tries every kind of yes.
func TestNoSettingReachesPastACeiling(t *testing.T) {
	for _, tc := range []struct {
		a    Action
		want Rule
	}{
		{Action{Type: "terminal", Command: "git push"}, "ceiling_external_effect"},
		{Action{Type: "terminal", Command: "sudo ls"}, "ceiling_privileged"},
		{Action{Type: "git_push"}, "ceiling_typed_git"},
		{Action{Type: "pr_open"}, "ceiling_typed_git"},
		{Action{Type: "terminal", Command: "$X"}, "ceiling_unresolved"},
		{Action{Type: "terminal", Command: "rm .git/config"}, "ceiling_policy_file"},
		{Action{Type: "write_file", Path: "permissions.json"}, "ceiling_policy_file"},
		{Action{Type: "git_merge", TargetBranch: "main"}, "ceiling_protected_merge"},
		{Action{Type: "instruction_patch"}, "ceiling_instruction_patch"},
		{Action{Type: "parallelize"}, "ceiling_parallelism"},
		{Action{Type: "raise_max_parallel"}, "ceiling_parallelism"},
		{Action{Type: "container_remove"}, "ceiling_container_remove"},
	} {
		permissions := Permissions{}
		for _, row := range typeRows {
			permissions.Allow = append(permissions.Allow, row.label+"()")
		}
		permissions.Allow = append(permissions.Allow, "Terminal(*)", "Terminal("+tc.a.Command+")")
		for _, au := range []Autonomy{{}, {Mode: AutoApprove}, {Mode: AutoApprove, Origin: "specific"}, autoMode} {
			for _, running := range []bool{false, true} {
				c := Context{ScopeRoot: "/home/x/p", ContainerRunning: running}
				got := verdictOf(t, tc.a, Owner, au, permissions, c)
				if got.Policy != RequireApproval || got.Rule != tc.want && got.Rule != "compound_unmatched" {
					t.Errorf("%+v, %+v, container %v: %s by %s, want %s", tc.a, au, running, got.Policy, got.Rule, tc.want)
				}
			}
		}
	}
}

func TestFirstDecisionsHaveNoCeiling(t *testing.T) {
	for _, name := range []string{"propose_execution_plan", "assess_implementability", "open_adr_pr", "open_infra_pr", "container_start", "container_stop", "spend", "git_commit", "git_repo_create"} {
		for _, running := range []bool{false, true} {
			if got := verdictOf(t, Action{Type: name}, Owner, autoMode, Permissions{}, Context{ContainerRunning: running}); got.Rule != "autonomy_auto_approve" {
				t.Errorf("%s: %s", name, got.Rule)
			}
		}
	}
}

func TestTheFloorIsForTerminalsAlone(t *testing.T) {
	for _, row := range typeRows {
		a := Action{Type: row.name}
		want := Rule("default")
		if row.name == "terminal" {
			a.Command, want = "ls", "container_floor"
		}
		if got := verdictOf(t, a, Owner, Autonomy{}, Permissions{}, Context{ContainerRunning: true}); got.Rule != want {
			t.Errorf("%s: %s, want %s", row.name, got.Rule, want)
		}
	}
}
