package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// firstUnit reads a command of one segment.
func firstUnit(t *testing.T, command string) *segment {
	t.Helper()
	us := analyse(command).units()
	if len(us) == 0 {
		t.Fatalf("%q has no segment", command)
	}
	return us[0].stands
}

func TestBracesExpandAsInBash(t *testing.T) {
	for text, want := range map[string]string{
		"{a{b,c}": "{ab {ac", "{a,b}{c": "a{c b{c", "{c{a,b}": "{ca {cb", "{a,{b,c}": "{a,b {a,c", "{,}x": "x x", "x{a,b": "x{a,b",
		"{a..c}{1..2}": "a1 a2 b1 b2 c1 c2", "{01..03}": "01 02 03", "{a'b,c'}": "{ab,c}", "{x,y..z}": "x y..z", "{1..3..2}": "1 3",
		"{a..}": "{a..}", "{a...b}": "{a...b}", "{}{a,b}": "{}a {}b", "{a}{b,c}": "{a}b {a}c", "a{b}c,d}": "ab}c ad", "{3..1}": "3 2 1",
		"{a..1}": "{a..1}", "{-1..1}": "-1 0 1", "{a,b}}": "a} b}", "{{a,b}": "{a {b", "{a\\,b,c}": "a,b c", "{1..2}..3}": "1..3} 2..3}",
		"{1..2,x}": "1..2 x", "{a,{1..2}}": "a 1 2", "{,a}": "a", "{a,}": "a", "{x}y,/etc/passwd}": "x}y /etc/passwd",
	} {
		var got []string
		for _, w := range firstUnit(t, "echo "+text).flat[1:] {
			got = append(got, w.text)
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%s: %q, want %q", text, g, want)
		}
	}
}

func TestAnsiQuotesAreDecoded(t *testing.T) {
	for text, want := range map[string]string{
		`$'\x67it'`: "git", `$'\x{67}it'`: "git", `$'\147it'`: "git", `$'g\u0069t'`: "git", `$'a\'b'`: "a'b", `$'a\qb'`: `a\qb`, `$'a\\b'`: `a\b`,
	} {
		if got := firstUnit(t, "echo "+text).flat[1].text; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestTheSeededListsHaveTheirLengths(t *testing.T) {
	source, ours := Seeded()
	if len(source) != 40 || len(ours) != 77 {
		t.Errorf("%d and %d entries", len(source), len(ours))
	}
	for _, e := range append(source, ours...) {
		if p := ParsePattern(e); p.Inert != "" || p.Operator != "" {
			t.Errorf("%s: %+v", e, p)
		}
	}
	if n := len(Types()); n != 20 {
		t.Errorf("%d types", n)
	}
	if n := len(theTables().prefixes); n != 39 {
		t.Errorf("%d prefixes", n)
	}
}

func TestPlainPOSIX(t *testing.T) {
	for _, text := range []string{"ls", "a=1; echo \"$a\"", "if true; then ls; fi", "cat <<E\nx\nE", "ls 2>&1 <&-", "echo ${x:-y} $((1+1))", "f() { ls; }"} {
		if !PlainPOSIX(text) {
			t.Errorf("%q is plain", text)
		}
	}
	for _, text := range []string{
		"echo $'a'", `echo $"a"`, "echo $[1]", "cat <(ls)", "ls > >(cat)", "[[ a ]]", "((1))", "ls &> x", "ls &>> x", "ls |& cat", "cat <<< x",
		"case a in a) ls;& esac", "case a in a) ls;;& esac", "ls >& x", "ls 10> x", "ls {a}> x", "echo {a,b}", "echo @(a)", "function f { ls; }",
		"select x in a; do ls; done", "coproc ls", "for ((;;)); do ls; done", "a=(1)", "a+=1", "echo ${a/b/c}", "echo ${a[0]}", "echo \"${a:-'b'}\"",
		`echo ${a:-\b}`, "ls (", strings.Repeat("a", maxResolved+1),
	} {
		if PlainPOSIX(text) {
			t.Errorf("%.40q is not plain", text)
		}
	}
}

func TestAnExplanationShowsEachSegment(t *testing.T) {
	p := Permissions{Allow: []string{"Terminal(ls)", "Terminal(sed)"}, Ask: []string{"Terminal(make)"}, Deny: []string{"Terminal(curl)"}}
	e, err := Explain(Action{Type: "terminal", Command: "cd src && timeout 5 ls; make; sed -i x y; curl z"}, Owner, Autonomy{}, p, Context{ScopeRoot: "/srv/ws/p"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range e.Segments {
		got = append(got, s.Words[0]+" "+s.Opinion)
	}
	want := []string{"cd scope", "timeout structure", "ls allow", "make ask", "sed none", "curl deny"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if e.Scope != ScopeIn || e.Decision.Rule != FileDeny || !cmp.Equal(e.Segments[4].Effects, []string{"-i"}) {
		t.Errorf("%+v", e)
	}
}

func TestADocumentForAGroupReachesTheShellInIt(t *testing.T) {
	d, denied := RecheckDeny(Action{Type: "terminal", Command: "{ bash; } <<'E'\nrm -rf /\nE"}, Permissions{}, Context{})
	if !denied || d.Rule != BuiltinDeny {
		t.Errorf("%+v", d)
	}
}
