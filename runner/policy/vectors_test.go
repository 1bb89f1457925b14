package policy

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// shipped reads a vector file of the specification.
func shipped(t testing.TB, name string) []Vector {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	vectors, err := ReadVectors(name, f)
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}

func TestTheSpecificationsFilesAreRead(t *testing.T) {
	for name, want := range map[string]int{"match.jsonl": 137, "decide.jsonl": 1971, "everyday.jsonl": 150} {
		vectors := shipped(t, name)
		if len(vectors) != want {
			t.Errorf("%s: %d vectors, want %d", name, len(vectors), want)
		}
		for _, v := range vectors {
			if (v.Match != nil) == (v.Decide != nil) || (v.Match != nil) != (name == "match.jsonl") {
				t.Errorf("%s: %s has the wrong shape", name, v.ID)
			}
		}
	}
}

func TestBothShapesAreRead(t *testing.T) {
	const text = `{"id":"m","pattern":"Terminal(ls)","command":"ls","match":true,"why":"x"}

{"id":"d","action":{"type":"terminal","command":"ls","cwd":"/p/a","path":"x","target_branch":"main"},"role":"owner",` +
		`"autonomy":{"mode":"auto_approve","origin":"wildcard"},"permissions":{"allow":["a"],"deny":["b"],"ask":["c"],"Deny":5},` +
		`"context":{"scope_root":"/p","also_inside":["/q"],"container_running":true},"expect":{"policy":"deny","rule":"file_deny"},"needless":true}
{"id":"n","action":{"type":"spend","command":null,"cwd":null},"role":null,"autonomy":{"mode":null,"origin":null},"permissions":{},` +
		`"context":{"scope_root":null,"also_inside":null},"expect":{"policy":"deny","rule":"role_minimum"}}
{"id":"o","action":{"type":"spend"},"expect":{"policy":"deny","rule":"role_minimum"}}`
	got, err := ReadVectors("v.jsonl", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []Vector{
		{ID: "m", Line: 1, Match: &MatchVector{"Terminal(ls)", "ls", true}},
		{ID: "d", Line: 3, Decide: &DecideVector{
			Proposal: Proposal{
				Action:      Action{Type: "terminal", Command: "ls", Cwd: "/p/a", Path: "x", TargetBranch: "main"},
				Role:        Owner,
				Autonomy:    Autonomy{Mode: AutoApprove, Origin: "wildcard"},
				Permissions: Permissions{Allow: []string{"a"}, Deny: []string{"b"}, Ask: []string{"c"}},
				Context:     Context{ScopeRoot: "/p", AlsoInside: []string{"/q"}, ContainerRunning: true},
			},
			Policy: Deny, Rule: "file_deny", Needless: true,
		}},
		{ID: "n", Line: 4, Decide: &DecideVector{Proposal: Proposal{Action: Action{Type: "spend"}}, Policy: Deny, Rule: "role_minimum"}},
		{ID: "o", Line: 5, Decide: &DecideVector{Proposal: Proposal{Action: Action{Type: "spend"}}, Policy: Deny, Rule: "role_minimum"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestALineThatIsNoVectorIsNamed(t *testing.T) {
	for _, tc := range []struct{ name, line, at, cause string }{
		{"no JSON", `{"id":"x",}`, "2:11", "not JSON"},
		{"no object", `[]`, "2:1", "an array, not an object"},
		{"neither shape", `{"id":"x"}`, "2:1", `"action" is missing`},
		{"no id", `{"pattern":"a","command":"b","match":true}`, "2:1", "id is missing"},
		{"an id that is a number", `{"id":5}`, "2:7", "id is a number, not a string"},
		{"an id that stands there already", `{"id":"first","pattern":"a","command":"b","match":true}`, "2:1", "line 1 already"},
		{"no match", `{"id":"x","pattern":"a","command":"b"}`, "2:1", `"match" is missing`},
		{"a match that is text", `{"id":"x","pattern":"a","command":"b","match":"yes"}`, "2:47", "match is a string, not a boolean"},
		{"no expectation", `{"id":"x","action":{"type":"terminal"}}`, "2:1", `"expect" is missing`},
		{"half an expectation", `{"id":"x","action":{},"expect":{"policy":"deny"}}`, "2:1", "no policy or no rule"},
		{"an unknown verdict", `{"id":"x","action":{},"expect":{"policy":"yes"}}`, "2:42", `no policy "yes"`},
		{"an unknown role", `{"id":"é","action":{},"role":"root"}`, "2:30", `no role "root"`},
		{"an unknown mode", `{"id":"x","action":{},"autonomy":{"mode":"x"}}`, "2:42", `no mode "x"`},
		{"an unknown origin", `{"id":"x","action":{},"autonomy":{"origin":"x"}}`, "2:44", `no origin "x"`},
		{"an action that is text", `{"id":"x","action":"ls"}`, "2:20", "action is a string, not an object"},
		{"a command that is a list", `{"id":"x","action":{"command":[]}}`, "2:31", "command is an array, not a string"},
		{"a list that is null", `{"id":"x","action":{},"permissions":{"deny":null}}`, "2:45", "deny is null, not an array"},
		{"a list given twice", `{"id":"x","action":{},"permissions":{"deny":[],"deny":[]}}`, "2:48", "given twice"},
		{"an entry that is a number", `{"id":"x","action":{},"permissions":{"deny":[1]}}`, "2:46", "an entry of deny is a number"},
		{"a folder that is a number", `{"id":"x","action":{},"context":{"also_inside":[1]}}`, "2:49", "an entry of also_inside"},
		{"a flag that is text", `{"id":"x","action":{},"context":{"container_running":"no"}}`, "2:54", "not a boolean"},
		{"longer than any", strings.Repeat("x", MaxVectorLine+1), "2", "longer than 16 MiB"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			const first = `{"id":"first","pattern":"a","command":"b","match":true}`
			_, err := ReadVectors("v.jsonl", strings.NewReader(first+"\r\n"+tc.line+"\n"+first+"\n"))
			f := failuretest.Produced(t, err, failure.VectorFileInvalid)
			if f.Subject != "v.jsonl:"+tc.at || !strings.Contains(f.Cause, tc.cause) {
				t.Errorf("subject %q, cause %q", f.Subject, f.Cause)
			}
		})
	}
}

func TestAProposalNeedsNoExpectation(t *testing.T) {
	id, p, err := ReadProposal([]byte(`{"id":"x","action":{"type":"spend"},"role":"owner"}`), 7)
	if err != nil || id != "x" || p.Action.Type != "spend" || p.Role != Owner {
		t.Errorf("%q, %+v, %v", id, p, err)
	}
	id, _, err = ReadProposal([]byte(`{"id":"x","action":{"type":5}}`), 7)
	if f := failuretest.Produced(t, err, failure.VectorFileInvalid); id != "x" || f.Subject != "line 7:28" {
		t.Errorf("id %q, subject %q", id, f.Subject)
	}
	if id, _, err = ReadProposal([]byte(`{"id":`), 7); id != "" || err == nil {
		t.Errorf("id %q, %v", id, err)
	}
}

func TestLinesGoOnBehindOneThatIsTooLong(t *testing.T) {
	lines := NewLines(strings.NewReader("a\n\n" + strings.Repeat("x", MaxVectorLine+1) + "\n \r\nlast"))
	for _, want := range []struct {
		text string
		line int
		err  error
	}{{"a", 1, nil}, {"", 3, ErrLineTooLong}, {"last", 5, nil}, {"", 6, io.EOF}} {
		text, line, err := lines.Next()
		if string(text) != want.text || line != want.line || !errors.Is(err, want.err) {
			t.Errorf("%q, %d, %v; want %+v", text, line, err, want)
		}
	}
}

// FuzzReadVector demands that no line makes the reader fail without a name.
func FuzzReadVector(f *testing.F) {
	for _, seed := range []string{
		`{"id":"m","pattern":"Terminal(ls)","command":"ls","match":true}`,
		`{"id":"d","action":{"type":"terminal","command":"ls"},"role":"owner","permissions":{"deny":["b"]},"expect":{"policy":"deny","rule":"x"}}`,
		`{"id":"d","action":null,"context":{"also_inside":["/a"]},"autonomy":{"mode":"deny"}}`, `{`, `[]`, ``,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := ReadVectors("v", strings.NewReader(text)); err != nil {
			failuretest.Produced(t, err, failure.VectorFileInvalid)
		}
		if _, _, err := ReadProposal([]byte(text), 1); err != nil {
			failuretest.Produced(t, err, failure.VectorFileInvalid)
		}
	})
}
