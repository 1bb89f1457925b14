package policy

import "testing"

var wholeAuto = Autonomy{Mode: AutoApprove, Origin: "wildcard"}

func ruleFor(t *testing.T, command string, au Autonomy, p Permissions) Rule {
	t.Helper()
	d, err := Decide(Action{Type: "terminal", Command: command}, Owner, au, p, Context{ScopeRoot: "/srv/ws/p"})
	if err != nil {
		t.Fatal(err)
	}
	return d.Rule
}

func TestEveryEffectWordOfTheTableMustBeNamed(t *testing.T) {
	for verb, rows := range theTables().effects {
		for _, r := range rows {
			if !r.shadowed {
				continue
			}
			var words []string
			for i := range len(r.letters) {
				words = append(words, "-"+r.letters[i:i+1])
			}
			for _, l := range r.longs {
				words = append(words, "--"+l)
			}
			words = append(append(words, r.whole...), r.wholeEq...)
			front := verb
			if len(r.subs) > 0 {
				front += " " + r.subs[0]
			}
			for _, w := range words {
				command := front + " " + w
				if got := ruleFor(t, command, Autonomy{}, Permissions{Allow: []string{"Terminal(" + verb + ")"}}); got != Default {
					t.Errorf("%s: %s", command, got)
				}
			}
		}
	}
}

func TestEveryPrefixOfTheTableIsAnExternalEffect(t *testing.T) {
	for _, e := range theTables().prefixes {
		command := ""
		for i, w := range e.words {
			if i > 0 {
				command += " --flag value "
			}
			command += w
		}
		if got := ruleFor(t, command, wholeAuto, Permissions{}); got != CeilingExternalEffect {
			t.Errorf("%s: %s", command, got)
		}
	}
}

func TestEveryWrapperOfTheTableIsFollowed(t *testing.T) {
	for verb := range theTables().wrappers {
		front := verb
		if verb == "timeout" {
			front += " 5"
		}
		if got := ruleFor(t, front+" git push", wholeAuto, Permissions{}); got != CeilingExternalEffect {
			t.Errorf("%s: %s", verb, got)
		}
	}
	for verb := range theTables().groups {
		if !in("unread", verb) {
			continue
		}
		if got := ruleFor(t, verb+" x", wholeAuto, Permissions{}); got != CeilingUnresolved {
			t.Errorf("%s: %s", verb, got)
		}
		if got := ruleFor(t, verb+" -x y rm -rf /", wholeAuto, Permissions{}); got != BuiltinDeny {
			t.Errorf("%s: %s", verb, got)
		}
	}
	for verb := range theTables().groups {
		if !in("shell", verb) && !in("shell-only", verb) && !in("always", verb) {
			continue
		}
		if got := ruleFor(t, verb, wholeAuto, Permissions{}); got != CeilingUnresolved {
			t.Errorf("%s: %s", verb, got)
		}
	}
}

func TestEveryGuardedFileAsks(t *testing.T) {
	for _, f := range []string{
		"permissions.json", ".git", "a/.git", ".git/config", ".git/config.worktree", ".git/commondir", ".git/info/attributes", ".git/hooks/x",
		".git/modules/a/b", ".git/worktrees/a", ".claude/x", "a/.codex/y", ".gemini", ".cursor/x", ".vscode/tasks.json", ".idea/x",
		".devcontainer/x", ".husky/pre-commit", ".mcp.json", "a/.envrc", ".GIT/Config",
	} {
		if got := ruleFor(t, "touch "+f, wholeAuto, Permissions{}); got != CeilingPolicyFile {
			t.Errorf("%s: %s", f, got)
		}
		d, _ := Decide(Action{Type: "write_file", Path: f}, Owner, wholeAuto, Permissions{}, Context{ScopeRoot: "/srv/ws/p"})
		if d.Rule != CeilingPolicyFile {
			t.Errorf("write_file %s: %s", f, d.Rule)
		}
	}
	for _, f := range []string{"a/permissions.json", ".git/info/exclude", ".gitattributes", ".gitmodules", "claude", ".git2/config"} {
		if got := ruleFor(t, "touch "+f, wholeAuto, Permissions{}); got != AutonomyAutoApprove {
			t.Errorf("%s: %s", f, got)
		}
	}
}

func TestEveryNameThatSteersIsUnresolved(t *testing.T) {
	for _, n := range []string{
		"PATH", "IFS", "ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "CDPATH", "PROMPT_COMMAND", "PS4", "GLOBIGNORE", "EXECIGNORE",
		"POSIXLY_CORRECT", "BASH_COMPAT", "LD_X", "DYLD_X", "BASH_FUNC_x", "GIT_X", "LANG", "LC_TIME", "RANDOM", "SRANDOM", "OPTIND",
		"HISTCMD", "SECONDS", "LINENO", "BASHPID", "EPOCHSECONDS", "EPOCHREALTIME",
	} {
		for _, command := range []string{n + "=x ls", n + "=x", "export " + n + "=x", "env " + n + "=x ls", "read " + n, "for " + n + " in a; do ls; done"} {
			if got := ruleFor(t, command, wholeAuto, Permissions{}); got != CeilingUnresolved {
				t.Errorf("%s: %s", command, got)
			}
		}
	}
}
