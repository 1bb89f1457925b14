package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// linted is a file's reports, one line each, without their sentences.
func linted(t *testing.T, text string) []string {
	t.Helper()
	f, err := ParseFile(FileName, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{}
	for _, r := range Lint(f) {
		if r.Sentence == "" {
			t.Errorf("%v says nothing", r)
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", r.Position, r.Weight, r.Kind, r.List, r.Entry)))
	}
	return lines
}

func TestWhatIsReported(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", `{"allow":["Terminal(pnpm test:*)","Terminal(rm -rf x/*)","GitCommit()"],"deny":["Terminal(curl)","Terminal(rm y)"],"ask":["GitPush( )"]}`, []string{}},
		{"an unknown member", "{\n \"$schema\": 1\n}", []string{"2:2 note unknown_member  $schema"}},
		{"a list in other letters", `{"Deny":[],"ALLOW":[]," ask":[]}`,
			[]string{"1:2 error unknown_member  Deny", "1:12 warning unknown_member  ALLOW", "1:23 warning unknown_member   ask"}},
		{"inert in deny", `{"deny":["Curl(x)"]}`, []string{"1:10 error inert deny Curl(x)"}},
		{"no label", `{"allow":["pnpm test"]}`, []string{"1:11 warning inert allow pnpm test"}},
		{"a label in other letters", `{"allow":["terminal(ls)"]}`, []string{"1:11 warning inert allow terminal(ls)"}},
		{"content on a typed label", `{"ask":["GitPush(main)"]}`, []string{"1:9 warning inert ask GitPush(main)"}},
		{"an empty Terminal", `{"deny":["Terminal( )"]}`, []string{"1:10 error inert deny Terminal( )"}},
		{"an open quote", `{"deny":["Terminal(rm 'x)"]}`, []string{"1:10 error inert deny Terminal(rm 'x)"}},
		{"a first word that ends in :*", `{"deny":["Terminal(curl:*)"]}`, []string{"1:10 warning colon_star deny Terminal(curl:*)"}},
		{"a later word that ends in :*", `{"deny":["Terminal(pnpm test:*)"]}`, []string{}},
		{"a star inside a word", `{"allow":["Terminal(cat *.md)","Terminal(cat a*b*)","Terminal(cat */*)","Terminal(cat **)"]}`, []string{
			"1:11 warning inner_star allow Terminal(cat *.md)", "1:32 warning inner_star allow Terminal(cat a*b*)",
			"1:53 warning inner_star allow Terminal(cat */*)", "1:73 warning inner_star allow Terminal(cat **)"}},
		{"stars at the end", `{"allow":["Terminal(cat x*)","Terminal(cat *)","Terminal(cat /*)"]}`, []string{}},
		{"quoted as a whole", `{"allow":["Terminal('pnpm test')","Terminal(\"git status\")"]}`,
			[]string{"1:11 warning quoted_whole allow Terminal('pnpm test')", `1:35 warning quoted_whole allow Terminal("git status")`}},
		{"an operator", `{"deny":["Terminal(cd x && rm y)"]}`, []string{"1:10 warning operator deny Terminal(cd x && rm y)"}},
		{"a quoted operator", `{"deny":["Terminal(echo '&&')"]}`, []string{}},
		{"a deny that is built in", `{"deny":["Terminal(rm -rf /)","Terminal(rm -rf '/*' x)","Terminal(rm -fr / a*)","Terminal(rm -rf /x)"],"allow":["Terminal(rm -fr / y)"]}`, []string{
			"1:10 note covered_by_builtin deny Terminal(rm -rf /)", "1:31 note covered_by_builtin deny Terminal(rm -rf '/*' x)",
			"1:57 note covered_by_builtin deny Terminal(rm -fr / a*)", "1:113 warning contradiction allow Terminal(rm -fr / y)"}},
		{"an entry twice", "{\"allow\":[\"Terminal(ls)\",\n\"Terminal(ls)\", \"Terminal( 'ls' )\"]}",
			[]string{"2:1 note duplicate allow Terminal(ls)", "2:17 note duplicate allow Terminal( 'ls' )"}},
		{"an inert entry twice", `{"allow":["x","x"]}`,
			[]string{"1:11 warning inert allow x", "1:15 warning inert allow x", "1:15 note duplicate allow x"}},
		{"the same in two lists", "{\"allow\":[\"GitCommit()\"],\n\"deny\":[\"GitCommit()\"]}", []string{"1:11 warning contradiction allow GitCommit()"}},
		{"a deny over an allow", `{"allow":["Terminal(git push origin)","Terminal(git pull)"],"deny":["Terminal(git push)"]}`,
			[]string{"1:11 warning contradiction allow Terminal(git push origin)"}},
		{"a deny over an ask", `{"ask":["Terminal(curl x)"],"deny":["Terminal(curl)"]}`, []string{"1:9 warning contradiction ask Terminal(curl x)"}},
		{"an ask over an allow", `{"ask":["Terminal(git pu*)"],"allow":["Terminal(git push)","Terminal(git pul*)","Terminal(git p*)"]}`,
			[]string{"1:39 warning contradiction allow Terminal(git push)", "1:60 warning contradiction allow Terminal(git pul*)"}},
		{"a narrower deny beside a wider allow", `{"allow":["Terminal(git)"],"deny":["Terminal(git push)"]}`, []string{}},
		{"a star is not covered by a word", `{"allow":["Terminal(git p*)"],"deny":["Terminal(git push)"]}`, []string{}},
		{"inert entries contradict nothing", `{"allow":["GitCommit(x)"],"deny":["GitCommit()"]}`, []string{"1:11 warning inert allow GitCommit(x)"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, linted(t, tc.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReportsChangeNoVerdict(t *testing.T) {
	const text = `{"deny":["x","x","Terminal(curl:*)"],"Allow":[]}`
	f, err := ParseFile(FileName, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	before := string(f.Text())
	if len(Lint(f)) != 5 {
		t.Errorf("%d reports", len(Lint(f)))
	}
	if string(f.Text()) != before {
		t.Error("the file changed")
	}
}

// TestTheLargestFilesAreLinted would take hours if entries were compared each with each, or words counted again.
func TestTheLargestFilesAreLinted(t *testing.T) {
	var many, long strings.Builder
	many.WriteString(`{"allow":["Terminal(a)"`)
	for i := range 40_000 {
		fmt.Fprintf(&many, `,"Terminal(echo %d)"`, i)
	}
	many.WriteString(`],"deny":["Terminal(b)"`)
	for i := range 40_000 {
		fmt.Fprintf(&many, `,"Terminal(echo %d)"`, i)
	}
	many.WriteString(`]}`)
	words := strings.Repeat("a ", 400_000)
	fmt.Fprintf(&long, `{"allow":["Terminal(%sx)"],"deny":["Terminal(%sy)"],"ask":["Terminal(%s)"]}`, words, words, words)
	for name, tc := range map[string]struct {
		text    string
		reports int
	}{"many entries": {many.String(), 40_000}, "long entries": {long.String(), 1}} {
		t.Run(name, func(t *testing.T) {
			f, err := ParseFile(FileName, []byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := len(Lint(f)); got != tc.reports {
				t.Errorf("%d reports, want %d", got, tc.reports)
			}
		})
	}
}
