package policy

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func lists(allow, deny, ask []string) Permissions {
	return Permissions{Allow: append([]string{}, allow...), Deny: append([]string{}, deny...), Ask: append([]string{}, ask...)}
}

func TestFilesAreReadByTheTableOfSectionOne(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       Permissions
	}{
		{"no members", `{}`, lists(nil, nil, nil)},
		{"three lists", `{"allow":["Terminal(ls)"],"deny":["Terminal(curl)"],"ask":["GitPush()"]}`,
			lists([]string{"Terminal(ls)"}, []string{"Terminal(curl)"}, []string{"GitPush()"})},
		{"a missing list is empty", `{"deny":["Terminal(curl)"]}`, lists(nil, []string{"Terminal(curl)"}, nil)},
		{"unknown members are ignored", `{"$schema":"x","deny":["a"],"mode":{"deny":["b"],"deny":[1]}}`, lists(nil, []string{"a"}, nil)},
		{"names are compared exactly", `{"Deny":5,"DENY":{},"allow":[]}`, lists(nil, nil, nil)},
		{"names are compared as they read", `{"\u0064eny":["a"]}`, lists(nil, []string{"a"}, nil)},
		{"a repeated entry is one entry", `{"allow":["a","b","a"]}`, lists([]string{"a", "b"}, nil, nil)},
		{"bad entries leave the file valid", `{"allow":["","Terminal()","nonsense"]}`, lists([]string{"", "Terminal()", "nonsense"}, nil, nil)},
		{"escapes", `{"ask":["\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"]}`, lists(nil, nil, []string{"\"\\/\b\f\n\r\té😀"})},
		{"blanks everywhere", " \r\n\t{ \"allow\" : [ \"a\" , \"b\" ] , \"x\" : 1e9 }\n", lists([]string{"a", "b"}, nil, nil)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := ParseFile("permissions.json", []byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, f.Permissions); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBadFilesAreNamedWithLineAndColumn(t *testing.T) {
	for _, tc := range []struct{ name, text, at, cause string }{
		{"empty", "", "1:1", "it is empty"},
		{"only blanks", " \n\n", "3:1", "it is empty"},
		{"byte order mark", "\xef\xbb\xbf{}", "1:1", "byte order mark"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "1:1", "not UTF-8"},
		{"a byte that is no UTF-8", "{\n \"é\": \"\xe9\"}", "2:8", "not UTF-8"},
		{"not JSON", "{\n  \"allow\": [\"a\",]\n}", "2:17", "not JSON"},
		{"a comment", "{ // no\n}", "1:3", "not JSON"},
		{"cut off", `{"allow": ["a"`, "1:14", "not JSON"},
		{"two texts", "{}\n{}", "2:1", "not JSON"},
		{"a control character", "{\"allow\": [\"a\tb\"]}", "1:14", "not JSON"},
		{"an array", "\n []", "2:2", "an array, not an object"},
		{"null", "null", "1:1", "null, not an object"},
		{"a number", "5", "1:1", "a number, not an object"},
		{"a list given twice", "{\"deny\": [],\n \"deny\": [\"a\"]}", "2:2", `"deny" is given twice`},
		{"a list given twice in other letters", `{"deny": ["a"], "\u0064eny": []}`, "1:17", `"deny" is given twice`},
		{"an unknown member given twice", `{"x": 1, "x": 1}`, "1:10", `"x" is given twice`},
		{"a list that is null", `{"deny": null}`, "1:10", "the list deny is null, not an array"},
		{"a list that is an object", "{\"allow\":\n  {}}", "2:3", "the list allow is an object"},
		{"a list that is a string", `{"ask": "a"}`, "1:9", "the list ask is a string"},
		{"a list that is a boolean", `{"ask": true}`, "1:9", "the list ask is a boolean"},
		{"an entry that is a number", "{\"deny\": [\n \"é\", 5]}", "2:7", "an entry of the list deny is a number"},
		{"an entry that is a list", `{"deny": [["a"]]}`, "1:11", "an entry of the list deny is an array"},
		{"half of a surrogate pair", `{"deny": ["\ud800"]}`, "1:12", "surrogate"},
		{"the other half", `{"deny": ["\udc00\ud800"]}`, "1:12", "surrogate"},
		{"a half in front of something else", `{"deny": ["a\ud800\u0041"]}`, "1:13", "surrogate"},
		{"a half in a name", `{"\ud800": 1}`, "1:3", "surrogate"},
		{"nested beyond measure", `{"x":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + "}", "1:10005", "depth"},
		{"opened beyond measure", strings.Repeat(`{"x":`, 1<<18), "1:50001", "depth"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ParseFile("/p/permissions.json", []byte(tc.text))
			f := failuretest.Produced(t, err, failure.PermissionsFileInvalid)
			if f.Subject != "/p/permissions.json:"+tc.at || !strings.Contains(f.Cause, tc.cause) {
				t.Errorf("subject %q, cause %q", f.Subject, f.Cause)
			}
		})
	}
}

func TestNoFileIsThreeEmptyLists(t *testing.T) {
	f, err := Load(filepath.Join(t.TempDir(), FileName))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lists(nil, nil, nil), f.Permissions); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsNoFileIsNamed(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tc := range []struct{ name, path, cause string }{
		{"a directory", dir, "a directory"},
		{"50 MB", write("big", bytes.Repeat([]byte(" "), 50<<20)), "larger than 4 MiB"},
		{"a folder that is a file", filepath.Join(write("file", []byte("{}")), FileName), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Load(tc.path)
			if tc.cause == "" && err == nil {
				return // Windows says that there is no such file
			}
			f := failuretest.Produced(t, err, failure.PermissionsFileInvalid)
			if f.Subject != tc.path || !strings.Contains(f.Cause, tc.cause) {
				t.Error(f)
			}
		})
	}
}

// FuzzParseFile holds the loader against encoding/json: it takes nothing that is no JSON, and what it takes can be
// written and read again with nothing lost.
func FuzzParseFile(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `{"allow":["Terminal(ls)"],"deny":["\ud83d\ude00"],"ask":[]}`, `{"deny":[],"deny":[]}`, `{"x":[[{"y":"]\\"}]],"allow":["\""]}`,
		"\xef\xbb\xbf{}", `{"deny":["\ud800"]}`, `{"a":-1.5e+7 , "b":true,"ask":[ ]}`, `[`, `{"allow":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseFile(FileName, data)
		if err != nil {
			failuretest.Produced(t, err, failure.PermissionsFileInvalid)
			return
		}
		if !utf8.Valid(data) {
			t.Fatal("took what is no UTF-8")
		}
		var std map[string]json.RawMessage
		if err := json.Unmarshal(data, &std); err != nil {
			t.Fatalf("took what is no object: %v", err)
		}
		if len(std) != len(file.members) {
			t.Fatalf("%d members, %d by encoding/json", len(file.members), len(std))
		}
		file.Add(ListDeny, "Terminal(curl)")
		again, err := ParseFile(FileName, file.Text())
		if err != nil {
			t.Fatalf("what was written can't be read: %v\n%s", err, file.Text())
		}
		if diff := cmp.Diff(file.Permissions, again.Permissions); diff != "" {
			t.Fatal(diff)
		}
		for _, m := range again.members {
			if want, ok := std[m.name]; ok && file.list(List(m.name)) == nil && !sameJSON(t, want, m.value) {
				t.Fatalf("member %q was %s and is %s", m.name, want, m.value)
			}
		}
	})
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		t.Fatal("no JSON")
	}
	return bytes.Equal(x.Bytes(), y.Bytes())
}
