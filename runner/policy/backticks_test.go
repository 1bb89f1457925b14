package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBackticksAreTakenOutOfATextAsBashReadsThem(t *testing.T) {
	for _, c := range []struct {
		text, blank string
		inside      []string
	}{
		{"rm -rf / `( `", "rm -rf / ``", []string{"( "}},
		{"a `b` \"`c`\" '`d`' \\`e\\`", "a `` \"``\" '`d`' \\`e\\`", []string{"b", "c"}},
		{"a # `b`\nc `d`", "a \nc ``", []string{"d"}},
		{"a#`b`", "a#``", []string{"b"}},
		{"a `b \\` c` d", "a `` d", []string{"b \\` c"}},
		{"a `open", "a `", nil},
		{"it's `b`", "it's `b`", nil},
	} {
		blank, inside := withoutBackticks(c.text)
		if blank != c.blank {
			t.Errorf("%q: %q, want %q", c.text, blank, c.blank)
		}
		if diff := cmp.Diff(c.inside, inside); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

func TestDenyHoldsWhereOnlyTheTextInBackticksDoesNotParse(t *testing.T) {
	for _, c := range []struct {
		command string
		want    Rule
	}{
		{"rm -rf / `( `", BuiltinDeny},
		{"echo \"`if`\"; rm -rf /", BuiltinDeny},
		{"echo `curl x; (`", FileDeny},
		{"ls `( `", CeilingUnresolved},
		{"rm -rf / <<E\n\"$( esac\nE\nx) ", BuiltinDeny},
		{"cat <<E\n$(curl x)\nE\nx) `(`", FileDeny},
		{"rm -rf /\\\n\\\n\\", BuiltinDeny}, // Bash drops the last backslash
	} {
		d, err := Decide(Action{Type: "terminal", Command: c.command}, Owner,
			Autonomy{Mode: AutoApprove, Origin: "wildcard"}, Permissions{Deny: []string{"Terminal(curl)"}}, Context{})
		if err != nil || d.Rule != c.want {
			t.Errorf("%q: %+v, %v; want %s", c.command, d, err, c.want)
		}
	}
}

func TestInputOfAShellIsReadWhateverItsOptions(t *testing.T) {
	for _, command := range []string{"bash -c \"``<(cu''rl x)\"", "bash -c bash <<X\ncurl x\nX", "bash -c 'sh -c \"bash\"' <<X\ncurl x\nX", "eval bash <<X\ncurl x\nX", "bash -s <<X\ncurl x\nX", "sh --rcfile f <<'X'\ncurl x\nX", "bash -s <<<'curl x'"} {
		d, err := Decide(Action{Type: "terminal", Command: command}, Owner, Autonomy{}, Permissions{Deny: []string{"Terminal(curl)"}}, Context{})
		if err != nil || d.Rule != FileDeny {
			t.Errorf("%q: %+v, %v", command, d, err)
		}
	}
}
