package action

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

var everything = Extensions(Known())

func TestExecOfTheContractIsRead(t *testing.T) {
	raw := `{"ref":"b0f2","command":"ls -la","cwd":"/home/ana/loja","env":{"BRABO_GIT_TOKEN":"x"},"gitCredenciado":true,
		"deadlineMs":600000,"decision":{"kind":"human","by":"ana","rule":"default","at":"2026-11-02T10:15:30Z"},"novo":[1]}`
	got, fail := DecodeExec(json.RawMessage(raw), everything)
	if fail != nil {
		t.Fatal(fail)
	}
	want := Exec{Ref: "b0f2", Command: "ls -la", Cwd: "/home/ana/loja", Env: map[string]string{"BRABO_GIT_TOKEN": "x"},
		GitCredentialed: true, Deadline: 10 * time.Minute,
		Decision: &Decision{Kind: "human", By: "ana", Rule: "default", At: time.Date(2026, 11, 2, 10, 15, 30, 0, time.UTC)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestExecWithoutCwdMeansTheRoot(t *testing.T) {
	for _, raw := range []string{`{"ref":"a","command":"ls"}`, `{"ref":"a","command":"ls","cwd":null}`, `{"ref":"a","command":"ls","cwd": null }`} {
		got, fail := DecodeExec(json.RawMessage(raw), nil)
		if fail != nil || got.Cwd != "" {
			t.Errorf("%s: %+v, %v", raw, got, fail)
		}
	}
}

func TestFieldsOfExtensionsThatWereNotGrantedAreIgnored(t *testing.T) {
	got, fail := DecodeExec(json.RawMessage(`{"ref":"a","command":"ls","deadlineMs":"soon","decision":7,"gitCredenciado":"true"}`), nil)
	if fail != nil || got.Deadline != 0 || got.Decision != nil || got.GitCredentialed {
		t.Errorf("%+v, %v", got, fail)
	}
}

func TestServerThatAgreedToSayWhoDecidedAndDoesNotCountsAsPolicy(t *testing.T) {
	got, fail := DecodeExec(json.RawMessage(`{"ref":"a","command":"ls"}`), everything)
	if fail != nil || got.Decision == nil || got.Decision.Kind != "policy" {
		t.Errorf("%+v, %v", got, fail)
	}
}

func TestMalformedExecIsNamedAndKeepsItsRef(t *testing.T) {
	for _, c := range []struct {
		raw, ref string
		name     failure.Name
	}{
		{`null`, "", failure.MalformedAction},
		{`[]`, "", failure.MalformedAction},
		{`"exec"`, "", failure.MalformedAction},
		{`{`, "", failure.MalformedAction},
		{`{"command":"ls"}`, "", failure.MalformedAction},
		{`{"Ref":"a","command":"ls"}`, "", failure.MalformedAction},
		{`{"ref":7,"command":"ls"}`, "", failure.MalformedAction},
		{`{"ref":null,"command":"ls"}`, "", failure.MalformedAction},
		{`{"ref":"","command":"ls"}`, "", failure.MalformedAction},
		{`{"ref":"` + strings.Repeat("r", 300) + `","command":"ls"}`, strings.Repeat("r", 300), failure.MalformedAction},
		{`{"ref":"a"}`, "a", failure.MalformedAction},
		{`{"ref":"a","command":["ls"]}`, "a", failure.MalformedAction},
		{`{"ref":"a","command":null}`, "a", failure.MalformedAction},
		{`{"ref":"a","command":""}`, "a", failure.CommandEmpty},
		{`{"ref":"a","command":" \n\t"}`, "a", failure.CommandEmpty},
		{`{"ref":"a","command":"ls\u0000"}`, "a", failure.CommandNUL},
		{`{"ref":"a","command":"ls","cwd":7}`, "a", failure.MalformedAction},
		{`{"ref":"a","command":"ls","cwd":""}`, "a", failure.CwdNotAbsolute},
		{`{"ref":"a","command":"ls","env":null}`, "a", failure.InvalidEnv},
		{`{"ref":"a","command":"ls","env":[]}`, "a", failure.InvalidEnv},
		{`{"ref":"a","command":"ls","env":{"A":1}}`, "a", failure.InvalidEnv},
		{`{"ref":"a","command":"ls","env":{"A":null}}`, "a", failure.InvalidEnv},
		{`{"ref":"a","command":"ls","env":{"A":{"B":"c"}}}`, "a", failure.InvalidEnv},
		{`{"ref":"a","command":"ls","deadlineMs":999}`, "a", failure.InvalidDeadline},
		{`{"ref":"a","command":"ls","deadlineMs":86400001}`, "a", failure.InvalidDeadline},
		{`{"ref":"a","command":"ls","deadlineMs":9223372036854775807}`, "a", failure.InvalidDeadline},
		{`{"ref":"a","command":"ls","deadlineMs":1000.5}`, "a", failure.InvalidDeadline},
		{`{"ref":"a","command":"ls","deadlineMs":"1000"}`, "a", failure.InvalidDeadline},
		{`{"ref":"a","command":"ls","deadlineMs":null}`, "a", failure.InvalidDeadline},
		{`{"ref":"a","command":"ls","decision":{"kind":"robot"}}`, "a", failure.MalformedAction},
		{`{"ref":"a","command":"ls","decision":"human"}`, "a", failure.MalformedAction},
		{`{"ref":"a","command":"ls","decision":{"kind":"human","at":"yesterday"}}`, "a", failure.MalformedAction},
	} {
		got, fail := DecodeExec(json.RawMessage(c.raw), everything)
		if fail == nil {
			t.Errorf("%.80s: accepted", c.raw)
			continue
		}
		failuretest.Produced(t, fail, c.name)
		if got.Ref != c.ref {
			t.Errorf("%.80s: ref %q, want %q", c.raw, got.Ref, c.ref)
		}
	}
}

func TestFailuresAboutEnvNeverQuoteAValue(t *testing.T) {
	for _, raw := range []string{
		`{"ref":"a","command":"ls","env":{"TOKEN":"s3cret","OTHER":1}}`,
		`{"ref":"a","command":"ls","env":["s3cret"]}`, `{"ref":"a","command":"ls","env":"s3cret"}`,
	} {
		_, fail := DecodeExec(json.RawMessage(raw), nil)
		failuretest.Produced(t, fail, failure.InvalidEnv)
		if strings.Contains(fail.Error(), "s3cret") {
			t.Errorf("the failure holds the value: %v", fail)
		}
	}
}

func TestContainerActionsAreRead(t *testing.T) {
	start, fail := DecodeContainer(EventContainerStart, json.RawMessage(`{"ref":"a","spec":{"imagem":"x:1"},"deadlineMs":5000}`), everything)
	if fail != nil || start.Ref != "a" || string(start.Spec) != `{"imagem":"x:1"}` || start.Deadline != 5*time.Second {
		t.Errorf("%+v, %v", start, fail)
	}
	stop, fail := DecodeContainer(EventContainerStop, json.RawMessage(`{"ref":"a","workspaceDirName":"shop"}`), nil)
	if fail != nil || string(stop.WorkspaceDirName) != `"shop"` {
		t.Errorf("%+v, %v", stop, fail)
	}
	for _, c := range []struct {
		event, raw, ref string
		want            failure.Name
	}{
		{EventContainerStart, `[]`, "", failure.MalformedAction},
		{EventContainerStart, `{"spec":{}}`, "", failure.MalformedAction},
		{EventContainerStart, `{"ref":"a"}`, "a", failure.MalformedAction},
		{EventContainerStart, `{"ref":"a","spec":null}`, "a", failure.MalformedAction},
		{EventContainerRemove, `{"ref":"a","spec":{}}`, "a", failure.MalformedAction},
		{EventContainerStop, `{"ref":"a","workspaceDirName":"x","deadlineMs":1}`, "a", failure.InvalidDeadline},
	} {
		got, fail := DecodeContainer(c.event, json.RawMessage(c.raw), everything)
		failuretest.Produced(t, fail, c.want)
		if got.Ref != c.ref {
			t.Errorf("%s: ref %q", c.raw, got.Ref)
		}
	}
}

func TestContainerResultsHaveTheFormOfTheContract(t *testing.T) {
	no := false
	for _, c := range []struct {
		result ContainerResult
		want   string
	}{
		{ContainerResult{Ref: "a", Sucesso: true}, `{"ref":"a","sucesso":true}`},
		{ContainerResult{Ref: "a", Sucesso: true, ContainerID: "c", Nome: "brabo-shop", JaEstavaDePe: &no},
			`{"ref":"a","sucesso":true,"containerId":"c","nome":"brabo-shop","jaEstavaDePe":false}`},
	} {
		raw, err := json.Marshal(c.result)
		if err != nil || string(raw) != c.want {
			t.Errorf("%s, %v", raw, err)
		}
	}
	failed := ContainerFailed("a", failure.New(failure.DiskFull, "/x"))
	if failed.Sucesso || !strings.HasPrefix(failed.Erro, "disk_full: /x") || failed.Failure == nil {
		t.Errorf("%+v", failed)
	}
}

func TestCancelIsRead(t *testing.T) {
	ref, reason, fail := DecodeExecCancel(json.RawMessage(`{"ref":"a","reason":"no longer wanted"}`))
	if fail != nil || ref != "a" || reason != "no longer wanted" {
		t.Error(ref, reason, fail)
	}
	for _, raw := range []string{`7`, `{}`, `{"ref":"a","reason":7}`} {
		_, _, fail := DecodeExecCancel(json.RawMessage(raw))
		failuretest.Produced(t, fail, failure.MalformedAction)
	}
}

func TestDigestLooksAtTheContentOnly(t *testing.T) {
	digest := func(raw string) [32]byte {
		d, err := Digest(json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	base := digest(`{"ref":"a","command":"ls","cwd":null}`)
	if base != digest(`{ "cwd":null, "command":"\u006cs", "ref":"a", "deadlineMs":5, "decision":{"kind":"human"}, "env":{"A":"b"}}`) {
		t.Error("order, spelling, deadline, decision or env changed the digest")
	}
	for _, other := range []string{`{"ref":"a","command":"ls -l","cwd":null}`, `{"ref":"a","command":"ls"}`, `{"ref":"a","command":"ls","cwd":null,"gitCredenciado":true}`} {
		if base == digest(other) {
			t.Errorf("%s has the same digest", other)
		}
	}
	if digest(`{"n":9007199254740993}`) == digest(`{"n":9007199254740992}`) {
		t.Error("large numbers were rounded")
	}
	if _, err := Digest(json.RawMessage(`[`)); err == nil {
		t.Error("a digest of what is no JSON")
	}
}

func TestRefusalsCarryTheWholeFailure(t *testing.T) {
	fail := failure.New(failure.CwdOutside, "/etc")
	r := Refused("a", fail)
	if r.ExitCode != -1 || r.TimedOut || !strings.HasPrefix(r.Output, "[runner recusou o comando: cwd_outside: /etc") || !strings.Contains(r.Output, fail.Next) {
		t.Errorf("%+v", r)
	}
	raw, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(raw), `"failure":{"name":"cwd_outside","subject":"/etc"`) {
		t.Errorf("%s, %v", raw, err)
	}
	if r := Refused("a", failure.New(failure.CouldNotStart, "/bin/bash")); !strings.HasPrefix(r.Output, "[runner: falha ao iniciar o comando: ") {
		t.Error(r.Output)
	}
}

func TestNoticeStaysWithinItsRoom(t *testing.T) {
	fail := failure.New(failure.TimedOut, strings.Repeat("ü", 1000))
	for _, output := range []string{"", "partial", "partial\n"} {
		got := WithNotice(output, fail)
		if len(got) > len(output)+NoticeRoom || !strings.HasPrefix(got, output) || !strings.HasSuffix(got, "]") || !utf8.ValidString(got) {
			t.Errorf("%d bytes for %d: %q", len(got), len(output), got)
		}
	}
}

func TestCapabilitiesAndExtensionsAreDeclaredAndGranted(t *testing.T) {
	raw, err := json.Marshal(NewJoin([]string{"exec"}, []Extension{ExtAck, ExtDeadline}))
	if err != nil || string(raw) != `{"capacidades":["exec","ext:ack","ext:deadline"]}` {
		t.Fatalf("%s, %v", raw, err)
	}
	capabilities, extensions := Declared(json.RawMessage(`{"capacidades":["exec","ext:ack","ext:ack","ext:telepathy","workspace"]}`))
	if diff := cmp.Diff([]string{"exec", "workspace"}, capabilities); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Extensions{ExtAck}, extensions); diff != "" {
		t.Error(diff)
	}
	for _, legacy := range []string{`{}`, `{"capacidades":[]}`, `{"capacidades":"exec"}`, `null`, `7`} {
		capabilities, extensions := Declared(json.RawMessage(legacy))
		if diff := cmp.Diff([]string{"exec", "pty"}, capabilities); diff != "" || len(extensions) > 0 {
			t.Error(legacy, diff, extensions)
		}
	}
	for reply, want := range map[string]Extensions{
		`{}`: nil, `null`: nil, `7`: nil, `{"extensions":"ack"}`: nil,
		`{"extensions":["ack","cancel","cancel","flight"]}`: {ExtAck},
	} {
		if diff := cmp.Diff(want, Granted(json.RawMessage(reply), []Extension{ExtAck, ExtDeadline})); diff != "" {
			t.Error(reply, diff)
		}
	}
}

func FuzzDecodeExec(f *testing.F) {
	f.Add([]byte(`{"ref":"a","command":"ls","cwd":null,"env":{"A":"b"},"deadlineMs":1000,"decision":{"kind":"human","at":"2026-11-02T10:15:30Z"}}`))
	f.Add([]byte(`{"ref":"a","command":"ls\u0000"}`))
	f.Add([]byte(`[{}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, granted := range []Extensions{nil, everything} {
			e, fail := DecodeExec(raw, granted)
			if fail != nil {
				continue
			}
			if e.Ref == "" || strings.TrimSpace(e.Command) == "" || strings.ContainsRune(e.Command, 0) {
				t.Errorf("accepted %q as %+v", raw, e)
			}
			if e.Deadline != 0 && (e.Deadline < MinDeadline || e.Deadline > MaxDeadline) {
				t.Errorf("deadline %v of %q", e.Deadline, raw)
			}
			if _, err := Digest(raw); err != nil {
				t.Errorf("decoded but has no digest: %q: %v", raw, err)
			}
		}
		if ref, _, fail := DecodeExecCancel(raw); fail == nil && ref == "" {
			t.Errorf("cancel without ref: %q", raw)
		}
		Declared(raw)
		Granted(raw, Known())
	})
}
