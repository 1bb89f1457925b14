package policy

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// commands draws a command out of parts that meet every kind of rule.
func commands(t *rapid.T) string {
	part := rapid.SampledFrom([]string{
		"ls", "ls src", "cat a.txt", "cat /etc/hosts", "git status", "git push", "git commit -m x", "rm -rf /", "rm -rf $X",
		"curl -s http://x", "sudo ls", "echo $(git log)", "FOO=1 make", "CI=1 make", "cd src", "cd /etc", "timeout 5 make",
		"bash -c 'make; ls'", "find . -delete", "ls | xargs rm", "$X y", "cat {a,b}", "echo *", "sed -i s/a/b/ x",
		"docker exec web rm x", "npx rm x", "for f in a b; do cat $f; done", "echo x > permissions.json", "ssh h 'rm x'",
		"n=1", "eval ls", "git -C x log", "(ls; make)", "{ ls; }", "!  ls", "time make",
	})
	join := rapid.SampledFrom([]string{" && ", "; ", " | ", " || ", "\n", " & "})
	text := part.Draw(t, "part")
	for range rapid.IntRange(0, 3).Draw(t, "more") {
		text += join.Draw(t, "join") + part.Draw(t, "part")
	}
	return text
}

func entries(t *rapid.T, label string) []string {
	return rapid.SliceOfN(rapid.SampledFrom([]string{
		"Terminal(ls)", "Terminal(cat)", "Terminal(cat a.txt)", "Terminal(git)", "Terminal(git status)", "Terminal(git push)",
		"Terminal(git commit)", "Terminal(make)", "Terminal(rm)", "Terminal(rm x)", "Terminal(*)", "Terminal(echo *)",
		"Terminal(timeout)", "Terminal(bash)", "Terminal(find)", "Terminal(find . -delete)", "Terminal(xargs)", "Terminal(sed)",
		"Terminal(curl)", "Terminal(sudo)", "Terminal(docker exec)", "Terminal(npx)", "Terminal(ssh)", "Terminal(cd)",
		"Terminal($X)", "GitPush()", "Terminal(", "Terminal(./ls)", "Terminal(time)", "Terminal(eval)",
	}), 0, 6).Draw(t, label)
}

func situation(t *rapid.T) (Action, Autonomy, Permissions, Context) {
	au := rapid.SampledFrom([]Autonomy{
		{}, {Mode: AutoApprove, Origin: "wildcard"}, {Mode: AutoApprove, Origin: "specific"}, {Mode: RequireApproval}, {Mode: Deny},
	}).Draw(t, "autonomy")
	c := rapid.SampledFrom([]Context{
		{}, {ScopeRoot: "/srv/ws/p"}, {ScopeRoot: "/srv/ws/p", ContainerRunning: true},
	}).Draw(t, "context")
	p := Permissions{Allow: entries(t, "allow"), Deny: entries(t, "deny"), Ask: entries(t, "ask")}
	return Action{Type: "terminal", Command: commands(t)}, au, p, c
}

func mildness(v Verdict) int { return slices.Index([]Verdict{Deny, RequireApproval, AutoApprove}, v) }

func decided(t *rapid.T, a Action, au Autonomy, p Permissions, c Context) Decision {
	d, err := Decide(a, Owner, au, p, c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDenyAlwaysWins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, au, p, c := situation(t)
		if _, denied := RecheckDeny(a, p, c); denied {
			if d := decided(t, a, au, p, c); d.Policy != Deny {
				t.Fatalf("%q: %+v although a deny matches", a.Command, d)
			}
		}
	})
}

func TestMoreDenyOrAskIsNeverMorePermissive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, au, p, c := situation(t)
		before := decided(t, a, au, p, c)
		more := p
		if rapid.Bool().Draw(t, "deny") {
			more.Deny = append(slices.Clone(p.Deny), entries(t, "added")...)
		} else {
			more.Ask = append(slices.Clone(p.Ask), entries(t, "added")...)
		}
		if after := decided(t, a, au, more, c); mildness(after.Policy) > mildness(before.Policy) {
			t.Fatalf("%q: %+v, then %+v", a.Command, before, after)
		}
	})
}

func TestASilentFileLowersNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, au, _, c := situation(t)
		auto := Autonomy{Mode: AutoApprove, Origin: "wildcard"}
		silent := decided(t, a, auto, Permissions{}, c)
		inert := decided(t, a, auto, Permissions{Allow: []string{"Terminal("}, Deny: []string{"Nope()"}, Ask: []string{"GitPush()"}}, c)
		if silent.Policy != inert.Policy || silent.Rule != inert.Rule {
			t.Fatalf("%q: %+v, with inert entries %+v (%v)", a.Command, silent, inert, au)
		}
	})
}

func TestOrderAndRepetitionOfEntriesChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, au, p, c := situation(t)
		before := decided(t, a, au, p, c)
		q := Permissions{Allow: slices.Clone(p.Allow), Deny: slices.Clone(p.Deny), Ask: append(slices.Clone(p.Ask), p.Ask...)}
		slices.Reverse(q.Allow)
		slices.Reverse(q.Deny)
		slices.Sort(q.Ask)
		if after := decided(t, a, au, q, c); after.Policy != before.Policy || after.Rule != before.Rule {
			t.Fatalf("%q: %+v, in another order %+v", a.Command, before, after)
		}
	})
}

func TestNoReasonHoldsTheScopesAbsolutePath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, au, p, c := situation(t)
		c.ScopeRoot = "/srv/secret/place"
		a.Command += "; cat /srv/secret/place/../x; echo > /srv/secret/place/permissions.json"
		if d := decided(t, a, au, p, c); strings.Contains(d.Reason, "/srv/secret") {
			t.Fatalf("%q: %s", a.Command, d.Reason)
		}
	})
}

func FuzzDecide(f *testing.F) {
	for _, s := range []string{"ls", "for f in a; do cat $f; done", "cat <<E\n$(ls)\nE", "a\\\nb", "bash -c 'ls'", "{a,{b..d}}[!x]*", "0&0\xe2"} {
		f.Add(s)
	}
	p := Permissions{Allow: []string{"Terminal(ls)", "Terminal(*)"}, Deny: []string{"Terminal(git commit)"}, Ask: []string{"Terminal(docker rm)"}}
	c := Context{ScopeRoot: "/srv/ws/p", AlsoInside: []string{"/tmp"}}
	f.Fuzz(func(t *testing.T, command string) {
		a := Action{Type: "terminal", Command: command}
		e, err := Explain(a, Owner, Autonomy{Mode: AutoApprove, Origin: "wildcard"}, p, c)
		if err != nil {
			t.Fatal(err)
		}
		if e.Decision.Policy == AutoApprove && len(e.Unresolved) > 0 {
			t.Errorf("approved although unresolved: %v", e.Unresolved)
		}
		Remember(a, p, c)
		PlainPOSIX(command)
		ParsePattern(command)
		Matches("Terminal("+command+")", command)
	})
}
