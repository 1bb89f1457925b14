package action

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestTypedActionsAreRead(t *testing.T) {
	sum := strings.Repeat("0f", 32)
	none := ""
	for raw, want := range map[string]Typed{
		`{"ref":"a","type":"write_file","params":{"path":"x","content":"hi","later":1}}`: {
			Type: TypeWriteFile, WriteFile: &WriteFile{Path: "x", Content: []byte("hi")}},
		`{"ref":"a","type":"write_file","params":{"path":"x","contentBase64":"/wA=","expectedSha256":"` + sum + `","mode":"0755"},"deadlineMs":1000}`: {
			Type: TypeWriteFile, WriteFile: &WriteFile{Path: "x", Content: []byte{0xff, 0}, Expect: &sum, Mode: 0o755}, Deadline: time.Second},
		`{"ref":"a","type":"write_file","params":{"path":"x","content":"","expectedSha256":null}}`: {
			Type: TypeWriteFile, WriteFile: &WriteFile{Path: "x", Content: []byte{}, Expect: &none}},
		`{"ref":"a","type":"git_commit","params":{"message":"m","paths":["a","b"],"authorName":"n","authorEmail":"e","cwd":"/w"},"env":{"BRABO_GIT_TOKEN":"t"}}`: {
			Type: TypeGitCommit, Commit: &GitCommit{"m", []string{"a", "b"}, "n", "e", "/w"}, Env: map[string]string{"BRABO_GIT_TOKEN": "t"}},
		`{"ref":"a","type":"git_branch_create","params":{"name":"b","from":null}}`: {Type: TypeGitBranchCreate, Branch: &GitBranchCreate{Name: "b"}},
		`{"ref":"a","type":"git_push","params":{"branch":"b","setUpstream":true}}`: {Type: TypeGitPush, Push: &GitPush{Remote: "origin", Branch: "b", SetUpstream: true}},
	} {
		got, fail := DecodeAction(json.RawMessage(raw), Extensions{ExtAction, ExtDeadline})
		want.Ref = "a"
		if diff := cmp.Diff(want, got); fail != nil || diff != "" {
			t.Errorf("%s: %v\n%s", raw, fail, diff)
		}
	}
}

func TestMalformedTypedActionsAreNamed(t *testing.T) {
	large := base64.StdEncoding.EncodeToString(make([]byte, MaxContent+1))
	for _, raw := range []string{
		`7`, `{}`, `{"ref":"a"}`, `{"ref":"a","type":7}`, `{"ref":"a","type":"write_file"}`, `{"ref":"a","type":"write_file","params":[]}`,
		`{"ref":"a","type":"write_file","params":{"content":"x"}}`,
		`{"ref":"a","type":"write_file","params":{"path":"x"}}`,
		`{"ref":"a","type":"write_file","params":{"path":"x","content":"x","contentBase64":""}}`,
		`{"ref":"a","type":"write_file","params":{"path":"x","content":7}}`,
		`{"ref":"a","type":"write_file","params":{"path":"x","contentBase64":"!"}}`,
		`{"ref":"a","type":"write_file","params":{"path":"x","contentBase64":"` + large + `"}}`,
		`{"ref":"a","type":"write_file","params":{"path":"x","content":"","mode":"0777"}}`,
		`{"ref":"a","type":"write_file","params":{"path":"x","content":"","expectedSha256":"AB"}}`,
		`{"ref":"a","type":"write_file","params":{"path":"x","content":"","expectedSha256":7}}`,
		`{"ref":"a","type":"git_commit","params":{}}`,
		`{"ref":"a","type":"git_commit","params":{"message":"m","paths":"a"}}`,
		`{"ref":"a","type":"git_commit","params":{"message":"m","paths":[null]}}`,
		`{"ref":"a","type":"git_commit","params":{"message":"m","cwd":7}}`,
		`{"ref":"a","type":"git_branch_create","params":{"from":"x"}}`,
		`{"ref":"a","type":"git_push","params":{"setUpstream":true}}`,
		`{"ref":"a","type":"git_push","params":{"branch":"b","setUpstream":"yes"}}`,
	} {
		_, fail := DecodeAction(json.RawMessage(raw), Extensions{ExtAction})
		failuretest.Produced(t, fail, failure.MalformedAction)
	}
	_, fail := DecodeAction(json.RawMessage(`{"ref":"a","type":"git_rebase","params":{}}`), nil)
	failuretest.Produced(t, fail, failure.UnknownActionType)
	_, fail = DecodeAction(json.RawMessage(`{"ref":"a","type":"git_push","params":{"branch":"b"},"env":[]}`), nil)
	failuretest.Produced(t, fail, failure.InvalidEnv)
	_, fail = DecodeAction(json.RawMessage(`{"ref":"a","type":"git_push","params":{"branch":"b"},"deadlineMs":1}`), Extensions{ExtDeadline})
	failuretest.Produced(t, fail, failure.InvalidDeadline)
}

func TestFolderMessagesAreRead(t *testing.T) {
	list, fail := DecodeFsListDir(json.RawMessage(`{"ref":"a","path":"/x"}`))
	if fail != nil || list != (FsListDir{"a", "/x"}) {
		t.Error(list, fail)
	}
	ref, fail := DecodeFsHomeDir(json.RawMessage(`{"ref":"a"}`))
	if fail != nil || ref != "a" {
		t.Error(ref, fail)
	}
	create, fail := DecodeWorkspaceCreate(json.RawMessage(`{"ref":"a","projectId":"p","segmento":"s/t","repoUrl":"https://x/y","env":{"A":"b"},"deadlineMs":2000}`), Extensions{ExtDeadline})
	want := WorkspaceCreate{"a", "p", "s/t", "https://x/y", map[string]string{"A": "b"}, 2 * time.Second}
	if diff := cmp.Diff(want, create); fail != nil || diff != "" {
		t.Error(fail, diff)
	}
	mirror, fail := DecodeMirrorSync(json.RawMessage(`{"ref":"a","destino":"/m"}`))
	if fail != nil || mirror != (MirrorSync{"a", "/m", "desconhecido"}) {
		t.Error(mirror, fail)
	}
	for reply, want := range map[string]string{
		`{"espelho":{"destino":"/m"}}`: "/m", `{}`: "", `{"espelho":{"destino":7}}`: "", `{"espelho":null}`: "", `7`: "",
	} {
		if got := GrantedMirror(json.RawMessage(reply)); got != want {
			t.Errorf("%s: %q", reply, got)
		}
	}
}

func TestMalformedFolderMessagesAreNamed(t *testing.T) {
	decode := map[string]func(json.RawMessage) *failure.Failure{
		EventFsListDir:       func(raw json.RawMessage) *failure.Failure { _, fail := DecodeFsListDir(raw); return fail },
		EventFsHomeDir:       func(raw json.RawMessage) *failure.Failure { _, fail := DecodeFsHomeDir(raw); return fail },
		EventWorkspaceCreate: func(raw json.RawMessage) *failure.Failure { _, fail := DecodeWorkspaceCreate(raw, nil); return fail },
		EventMirrorSync:      func(raw json.RawMessage) *failure.Failure { _, fail := DecodeMirrorSync(raw); return fail },
	}
	for event, payloads := range map[string][]string{
		EventFsListDir:       {`7`, `{}`, `{"ref":"a"}`, `{"ref":"a","path":7}`},
		EventFsHomeDir:       {`7`, `{}`, `{"ref":""}`},
		EventWorkspaceCreate: {`7`, `{}`, `{"ref":"a"}`, `{"ref":"a","projectId":"p"}`, `{"ref":"a","projectId":"p","segmento":"s","repoUrl":7}`},
		EventMirrorSync:      {`7`, `{}`, `{"ref":"a"}`, `{"ref":"a","destino":"/m","momento":7}`},
	} {
		for _, raw := range payloads {
			failuretest.Produced(t, decode[event](json.RawMessage(raw)), failure.MalformedAction)
		}
	}
}

func FuzzDecodeTyped(f *testing.F) {
	f.Add([]byte(`{"ref":"a","type":"write_file","params":{"path":"x","contentBase64":"/wA=","expectedSha256":null,"mode":"0755"}}`))
	f.Add([]byte(`{"ref":"a","type":"git_commit","params":{"message":"m","paths":["a"]},"projectId":"p","segmento":"s","destino":"/m","path":"/"}`))
	f.Add([]byte(`{"espelho":{"destino":"/m"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if typed, fail := DecodeAction(raw, everything); fail == nil {
			set := 0
			for _, there := range []bool{typed.WriteFile != nil, typed.Commit != nil, typed.Branch != nil, typed.Push != nil} {
				if there {
					set++
				}
			}
			if typed.Ref == "" || set != 1 {
				t.Errorf("accepted %q as %+v", raw, typed)
			}
			if w := typed.WriteFile; w != nil && len(w.Content) > MaxContent {
				t.Errorf("accepted %d bytes", len(w.Content))
			}
		}
		if c, fail := DecodeWorkspaceCreate(raw, everything); fail == nil && c.Ref == "" {
			t.Errorf("accepted %q", raw)
		}
		if m, fail := DecodeMirrorSync(raw); fail == nil && (m.Ref == "" || m.Momento == "") {
			t.Errorf("accepted %q", raw)
		}
		if l, fail := DecodeFsListDir(raw); fail == nil && l.Ref == "" {
			t.Errorf("accepted %q", raw)
		}
		GrantedMirror(raw)
	})
}
