package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAlwaysAllowWritesOneEntryASegment(t *testing.T) {
	for _, c := range []struct {
		command string
		want    []string
	}{
		{"npm test -- --watch", []string{"Terminal(npm test)"}},
		{"cat src/x.ts", []string{"Terminal(cat)"}},
		{"cd ../lib", []string{"Terminal(cd)"}},
		{"cd src", []string{"Terminal(cd src)"}},
		{"ls -la src", []string{"Terminal(ls -la src)"}},
		{"git remote -v", []string{"Terminal(git remote -v)"}},
		{"git -C sub log -3", []string{"Terminal(git -C sub log -3)"}},
		{"gh pr list", []string{"Terminal(gh pr list)"}},
		{"kubectl get pods", []string{"Terminal(kubectl get)"}},
		{"CI=1 timeout 60 pnpm test", []string{"Terminal(pnpm test)"}},
		{"bash -lc 'pnpm test'", []string{"Terminal(pnpm test)"}},
		{"docker compose exec web ls", []string{"Terminal(docker compose exec web ls)"}},
		{"find . -name x -delete", []string{"Terminal(find . -name x -delete)"}},
		{"git", nil},
		{"npm", nil},
		{"ls && ls; pnpm build | ls", []string{"Terminal(ls)", "Terminal(pnpm build)"}},
		{"grep -n 'a b' \"it's\"", []string{`Terminal(grep -n 'a b' 'it'\''s')`}},
		{"ls -d src*", nil},
		{"ls -d src/*", []string{"Terminal(ls -d src/*)"}},
		{"ls -d \"$X\"", []string{"Terminal(ls -d '$X')"}},
		{"ls -d $(pwd)", []string{"Terminal(pwd)"}},
		{"$X", nil},
		{"echo hi > permissions.json", nil},
		{"python3 < x", nil},
		{"ssh -v host ls", []string{"Terminal(ssh -v host ls)"}},
		{"export X=1", []string{"Terminal(export X=1)"}},
		{"n=1; ls", []string{"Terminal(ls)"}},
		{"for f in a b; do sed -i s/x/y/ $f; done", nil},
	} {
		got := Remember(Action{Type: "terminal", Command: c.command}, Permissions{}, Context{ScopeRoot: "/srv/ws/p"})
		if got.Refused || !cmp.Equal(got.Patterns, c.want) {
			t.Errorf("%s: refused %v, %v", c.command, got.Refused, cmp.Diff(c.want, got.Patterns))
		}
	}
}

func TestAlwaysAllowIsRefused(t *testing.T) {
	for _, typ := range Types() {
		got := Remember(Action{Type: typ.Type, Command: "ls"}, Permissions{}, Context{})
		if got.Refused != NeverRemembered(typ.Type) {
			t.Errorf("%s: refused %v", typ.Type, got.Refused)
		}
		if !got.Refused && typ.Type != "terminal" && !cmp.Equal(got.Patterns, []string{typ.Label + "()"}) {
			t.Errorf("%s: %v", typ.Type, got.Patterns)
		}
	}
	for _, command := range []string{"git push", "ls && git -C x push", "sudo ls", "bash -c 'sudo ls'", "git $X"} {
		if got := Remember(Action{Type: "terminal", Command: command}, Permissions{}, Context{}); !got.Refused || got.Patterns != nil {
			t.Errorf("%s: %+v", command, got)
		}
	}
}

func TestAlwaysAllowNamesTheEntriesThatGoOnAsking(t *testing.T) {
	p := Permissions{Ask: []string{"Terminal(make)", "GitCommit()"}}
	got := Remember(Action{Type: "terminal", Command: "ls && make all"}, p, Context{})
	want := Remembered{Patterns: []string{"Terminal(ls)"}, AskEntries: []string{"Terminal(make)"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	got = Remember(Action{Type: "git_commit"}, p, Context{})
	if d := cmp.Diff(Remembered{AskEntries: []string{"GitCommit()"}}, got); d != "" {
		t.Error(d)
	}
}
