package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// fileWith is a permissions.json with that text in a folder of its own.
func fileWith(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), FileName)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAddingKeepsWhatIsThere(t *testing.T) {
	for _, tc := range []struct {
		name, before string
		entries      []string
		after        string
	}{
		{"behind the others", `{"allow":["Terminal(ls)"]}`, []string{"Terminal(pwd)", "GitCommit()"},
			"{\n  \"allow\": [\n    \"Terminal(ls)\",\n    \"Terminal(pwd)\",\n    \"GitCommit()\"\n  ]\n}\n"},
		{"into an empty list", "{\"ask\": [],\n\"allow\": [ ]}", []string{"Terminal(ls)"},
			"{\n  \"ask\": [],\n  \"allow\": [\n    \"Terminal(ls)\"\n  ]\n}\n"},
		{"into a list that is not there", `{"deny":["Terminal(curl)"]}`, []string{"Terminal(ls)"},
			"{\n  \"deny\": [\n    \"Terminal(curl)\"\n  ],\n  \"allow\": [\n    \"Terminal(ls)\"\n  ]\n}\n"},
		{"unknown members, repetitions and spellings stay", `{"Allow": {"n": 12345678901234567890.10, "s": "\u0041"}, "allow": ["a", "a"], "$schema": null}`, []string{"b"},
			"{\n  \"Allow\": {\n    \"n\": 12345678901234567890.10,\n    \"s\": \"\\u0041\"\n  },\n  \"allow\": [\n    \"a\",\n    \"a\",\n    \"b\"\n  ],\n  \"$schema\": null\n}\n"},
		{"operators stay readable", `{}`, []string{`Terminal(echo "<&>" 'a\b')`},
			"{\n  \"allow\": [\n    \"Terminal(echo \\\"<&>\\\" 'a\\\\b')\"\n  ]\n}\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := fileWith(t, tc.before)
			added, err := AddAllow(path, tc.entries...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.entries, added); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.after, content(t, path)); diff != "" {
				t.Error(diff)
			}
			added, err = AddAllow(path, tc.entries...)
			if err != nil || len(added) > 0 {
				t.Errorf("added again: %q, %v", added, err)
			}
		})
	}
}

func TestNothingToAddWritesNothing(t *testing.T) {
	const text = `{ "allow":["Terminal(ls)"]}`
	path := fileWith(t, text)
	if added, err := AddAllow(path, "Terminal(ls)"); err != nil || added != nil {
		t.Errorf("%q, %v", added, err)
	}
	if got := content(t, path); got != text {
		t.Errorf("rewritten: %s", got)
	}
}

func TestAddingMakesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	if _, err := AddAllow(path, "Terminal(ls)"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("{\n  \"allow\": [\n    \"Terminal(ls)\"\n  ],\n  \"deny\": [],\n  \"ask\": []\n}\n", content(t, path)); diff != "" {
		t.Error(diff)
	}
}

func TestACopyKeepsWhatItHadBeforeAnAdd(t *testing.T) {
	f, err := ParseFile(FileName, []byte(`{"deny":["a"]}`))
	if err != nil {
		t.Fatal(err)
	}
	before := f
	f.Add(ListDeny, "b")
	f.Add(ListAsk, "c")
	if diff := cmp.Diff(lists(nil, []string{"a"}, nil), before.Permissions); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("{\n  \"deny\": [\n    \"a\"\n  ]\n}\n", string(before.Text())); diff != "" {
		t.Error(diff)
	}
}

func TestABadFileIsNotWritten(t *testing.T) {
	const text = `{"deny": null}`
	path := fileWith(t, text)
	_, err := AddAllow(path, "Terminal(ls)")
	failuretest.Produced(t, err, failure.PermissionsFileInvalid)
	if got := content(t, path); got != text {
		t.Errorf("rewritten: %s", got)
	}
}

func TestWhatCanNotBeWrittenIsNamed(t *testing.T) {
	for _, tc := range []struct {
		name, path, entry, cause string
	}{
		{"a folder that is not there", filepath.Join(t.TempDir(), "gone", FileName), "Terminal(ls)", "gone"},
		{"an entry that is no UTF-8", filepath.Join(t.TempDir(), FileName), "Terminal(\xff)", "not UTF-8"},
		{"a file that could not be read again", filepath.Join(t.TempDir(), FileName), strings.Repeat("x", MaxFileSize), "4 MiB"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := AddAllow(tc.path, tc.entry)
			f := failuretest.Produced(t, err, failure.PermissionsFileNotWritten)
			if !strings.Contains(f.Error(), tc.cause) {
				t.Error(f)
			}
			if _, err := os.Stat(tc.path); err == nil {
				t.Error("something was written")
			}
		})
	}
	t.Run("a directory in its place", func(t *testing.T) {
		failuretest.Produced(t, File{}.Save(t.TempDir()), failure.PermissionsFileInvalid)
	})
}

func TestADeepMemberIsKeptAsItStands(t *testing.T) {
	deep := strings.Repeat("[", 9000) + strings.Repeat("1,", 100_000) + "1" + strings.Repeat("]", 9000)
	path := fileWith(t, `{"x":`+deep+`}`)
	if _, err := AddAllow(path, "Terminal(ls)"); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); !strings.Contains(got, deep) {
		t.Errorf("%d bytes without the member", len(got))
	}
}

// died is what a test lets a save die of, at the end of the named step.
type died string

func TestACrashBetweenAnyTwoStepsLeavesAWholeFile(t *testing.T) {
	var steps []string
	f, err := ParseFile(FileName, []byte(`{"deny":["Terminal(curl)"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.save(filepath.Join(t.TempDir(), FileName), func(s string) { steps = append(steps, s) }); err != nil {
		t.Fatal(err)
	}
	if len(steps) < 5 {
		t.Fatalf("steps: %q", steps)
	}
	for _, at := range steps {
		t.Run(at, func(t *testing.T) {
			path := fileWith(t, string(f.Text()))
			with := f
			with.Add(ListAllow, "Terminal(ls)")
			func() {
				defer func() {
					if recover() != died(at) {
						t.Error("it did not die there")
					}
				}()
				_ = with.save(path, func(s string) {
					if s == at {
						panic(died(at))
					}
				})
			}()
			got := content(t, path)
			if want := map[bool]string{false: string(f.Text()), true: string(with.Text())}[at == "renamed"]; got != want {
				t.Errorf("after %s the file is\n%s", at, got)
			}
			if _, err := AddAllow(path, "Terminal(pwd)"); err != nil {
				t.Errorf("the next save: %v", err)
			}
		})
	}
}
