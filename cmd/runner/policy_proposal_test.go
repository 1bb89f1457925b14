package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func TestWordsBecomeTheTextOfOneCommand(t *testing.T) {
	for want, args := range map[string][]string{
		"git status | head":     {"git status | head"},
		"":                      {""},
		"git commit -m 'a b'":   {"git", "commit", "-m", "a b"},
		"bash -c 'git push'":    {"bash", "-c", "git push"},
		"CI=1 make":             {"CI=1", "make"},
		"echo '' '&&' '$X' '*'": {"echo", "", "&&", "$X", "*"},
		`echo 'it'\''s'`:        {"echo", "it's"},
	} {
		if got := commandText(args); got != want {
			t.Errorf("%q is %q, want %q", args, got, want)
		}
	}
}

func TestWrongUseOfPolicyExitsWithTwo(t *testing.T) {
	for _, line := range []string{
		"policy check", "policy check --role admin -- ls", "policy check --autonomy maybe -- ls", "policy check --autonomy :wildcard -- ls", "policy check --autonomy deny:often -- ls",
		"policy check --what -- ls", "policy check --batch -- ls", "policy check --batch --role owner", "policy chek", "policy lint", "policy lint a b", "policy explain", "policy test", "policy seed x",
	} {
		var out, errOut bytes.Buffer
		if code := execute(context.Background(), strings.Fields(line), strings.NewReader(""), &out, &errOut); code != exitUsage || out.Len() > 0 || errOut.Len() == 0 {
			t.Errorf("runner %s: exit %d, stdout %q, stderr %q", line, code, out.String(), errOut.String())
		}
	}
}
