package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAlwaysAllowWritesTheUnitsOfSectionEleven gives the entries joined by blanks; none is "".
func TestAlwaysAllowWritesTheUnitsOfSectionEleven(t *testing.T) {
	for _, tc := range []struct{ rule, command, want string }{
		// The table.
		{"table", "npm test -- --watch", "Terminal(npm test)"},
		{"table", "cat src/x.ts", "Terminal(cat)"},
		{"table", "cd ../lib", "Terminal(cd)"},
		{"table", "cd src", "Terminal(cd src)"},
		{"table", "ls -la src", "Terminal(ls -la src)"},
		{"table", "git remote -v", "Terminal(git remote -v)"},
		{"table", "git -C sub log -3", "Terminal(git -C sub log -3)"},
		{"table", "gh pr list", "Terminal(gh pr list)"},
		{"table", "kubectl get pods", "Terminal(kubectl get)"},
		{"table", "CI=1 timeout 60 pnpm test", "Terminal(pnpm test)"},
		{"table", "bash -lc 'pnpm test'", "Terminal(pnpm test)"},
		{"table", "docker compose exec web ls", "Terminal(docker compose exec web ls)"},
		{"table", "find . -name x -delete", "Terminal(find . -name x -delete)"},
		{"table", "git", ""},
		// The numbered rules.
		{"1, only a verb", "make", "Terminal(make)"},
		{"1, a plain word", "make build:all_x-1 y", "Terminal(make build:all_x-1)"},
		{"1, a number", "sleep 4", "Terminal(sleep)"},
		{"1, a path", "cat ./x", "Terminal(cat)"},
		{"1, a file", "tsc a.ts", "Terminal(tsc)"},
		{"1, an option", "tsc -p .", "Terminal(tsc -p .)"},
		{"1, each segment once, in order", "make b && make a | make b", "Terminal(make b) Terminal(make a)"},
		{"2, a beginning of an external effect", "npm", ""},
		{"2, likewise", "gh pr", ""},
		{"2, the exact segment instead", "gh release list", "Terminal(gh release list)"},
		{"3, an effect word", "sed -i s/a/b/ x", "Terminal(sed -i s/a/b/ x)"},
		{"3, one that even the exact segment does not cover", "node", ""},
		{"3, ssh", "ssh host ls", "Terminal(ssh host ls)"},
		{"3, export", "export FOO=x", "Terminal(export FOO=x)"},
		{"3, carried elsewhere by docker", "docker exec web ls", "Terminal(docker exec web ls)"},
		{"3, by kubectl", "kubectl exec web -- ls", "Terminal(kubectl exec web -- ls)"},
		{"3, not carried by docker", "docker ps", "Terminal(docker ps)"},
		{"4, words are quoted", "ls -l 'a b'", "Terminal(ls -l 'a b')"},
		{"4, a word that would read back as a star", "ls -l 'x*'", ""},
		{"4, unresolved", "make $(echo x) | $Y", ""},
		{"4, a policy file", "rm .git/config", ""},
		{"6, carried through", "nohup timeout 5 make build", "Terminal(make build)"},
		{"6, only scratch names", "n=$(ls -l x); make build", "Terminal(ls -l x) Terminal(make build)"},
		{"6, assignments are no words", "CI=1 make build", "Terminal(make build)"},
	} {
		t.Run(tc.rule+": "+tc.command, func(t *testing.T) {
			got := Remember(Action{Type: "terminal", Command: tc.command}, Permissions{}, Context{})
			if got.Refused || strings.Join(got.Patterns, " ") != tc.want {
				t.Errorf("%q, refused %v; want %q", got.Patterns, got.Refused, tc.want)
			}
			// What is written covers what it was written for, and is no mistake.
			var f File
			f.Add(ListAllow, got.Patterns...)
			if reports := Lint(f); len(reports) > 0 {
				t.Errorf("%+v", reports)
			}
		})
	}
}

// TestWhatWasRememberedRuns checks the point of it: the same command does not ask again.
func TestWhatWasRememberedRuns(t *testing.T) {
	for _, command := range []string{
		"npm test -- --watch", "cat src/x.ts", "ls -la src", "git remote -v", "git -C sub log -3", "gh pr list", "kubectl get pods", "CI=1 timeout 60 pnpm test",
		"bash -lc 'pnpm test'", "docker compose exec web ls", "find . -name x -delete", "make b && make a | make b", "ls -l 'a b'", "n=$(ls -l x); make build",
		`ls -l "it's" '$HOME' a\"b '\' '|' '' 'ação'`,
	} {
		a := Action{Type: "terminal", Command: command}
		got := Remember(a, Permissions{}, Context{})
		if d := verdictOf(t, a, Owner, Autonomy{}, Permissions{Allow: got.Patterns}, Context{}); d.Policy != AutoApprove {
			t.Errorf("%s: %s by %s with %q", command, d.Policy, d.Rule, got.Patterns)
		}
	}
}

func TestAlwaysAllowRefuses(t *testing.T) {
	refused := map[string]bool{"git_push": true, "pr_open": true, "git_merge": true, "container_remove": true, "instruction_patch": true, "parallelize": true, "raise_max_parallel": true}
	for _, row := range typeRows {
		a := Action{Type: row.name}
		want := row.label + "()"
		if row.name == "terminal" {
			a.Command, want = "make", "Terminal(make)"
		}
		got := Remember(a, Permissions{}, Context{})
		if got.Refused != refused[row.name] {
			t.Errorf("%s refused: %v", row.name, got.Refused)
		}
		if refused[row.name] {
			want = ""
		}
		if strings.Join(got.Patterns, " ") != want {
			t.Errorf("%s writes %q", row.name, got.Patterns)
		}
	}
	for _, command := range []string{"git push", "ls && sudo ls", "bash -c 'npm publish'", "timeout 5 git -C x merge y"} {
		if got := Remember(Action{Type: "terminal", Command: command}, Permissions{}, Context{}); !got.Refused || len(got.Patterns) > 0 {
			t.Errorf("%s: %+v", command, got)
		}
	}
}

func TestAskEntriesComeBackFromAlwaysAllow(t *testing.T) {
	p := Permissions{Ask: []string{"Terminal(make)", "GitCommit()", "Terminal(rm)"}}
	got := Remember(Action{Type: "terminal", Command: "make x && pnpm test"}, p, Context{})
	if diff := cmp.Diff([]string{"Terminal(pnpm test)"}, got.Patterns); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Terminal(make)"}, got.AskEntries); diff != "" {
		t.Error(diff)
	}
	got = Remember(Action{Type: "git_commit"}, p, Context{})
	if len(got.Patterns) > 0 || len(got.AskEntries) != 1 || got.AskEntries[0] != "GitCommit()" {
		t.Errorf("%+v", got)
	}
}
