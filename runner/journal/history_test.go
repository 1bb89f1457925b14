package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEnvIsNeverStored(t *testing.T) {
	o := ordinary(t)
	j := open(t, o)
	for i, payload := range []string{
		`{"ref":"a","command":"git pull","env":{"TOKEN":"s3cret-value"}}`,
		`{"ref":"a","command":"git pull","env":{"TOKEN":"x"},"env":{"TOKEN":"s3cret-value"}}`,
		`{"ref":"a","command":"git pull","env":["s3cret-value"]}`,
		`{"ref":"a","command":"git pull","Env":"s3cret-value"}`,
		`{"ref":"a","command":"git pull","\u0065nv":{"TOKEN":"s3cret-value"}}`,
		`["s3cret-value"]`,
		`{"env":{"TOKEN":"s3cret-value"`,
	} {
		k := key(fmt.Sprint(i))
		receive(t, j, Action{Key: k, Payload: json.RawMessage(payload)})
		must(t, j.Begin(k))
		must(t, j.Started(k, Process{PID: 1}))
	}
	look := func(when string) {
		all := files(t, o.Folder)
		if !bytes.Contains(all, []byte("git pull")) {
			t.Errorf("%s: the command is not there, so this test looks at the wrong files", when)
		}
		if bytes.Contains(all, []byte("s3cret")) || bytes.Contains(all, []byte("TOKEN")) {
			t.Errorf("%s: env is stored", when)
		}
	}
	look("in the log that is written ahead")
	must(t, j.Finish(key("0"), result("done")))
	must(t, j.Close())
	look("in the file")
}

func TestHistoryTellsWhatHappened(t *testing.T) {
	o := ordinary(t)
	now := time.UnixMilli(1_800_000_000_000)
	o.Now = func() time.Time { now = now.Add(time.Second); return now }
	j := open(t, o)
	start := now
	ok, failed, refused, running := command("ok", "ls"), command("failed", "false"), command("refused", "rm -rf /"), command("running", strings.Repeat("é", 4000))
	image := Action{Key: Key{server, "other", "container_start", "image"}, Payload: json.RawMessage(`{"spec":{"imagem":"node:20"}}`)}
	typed := Action{Key: Key{server, "other", "action", "typed"}, Payload: json.RawMessage(`{"type":"git_push","params":{}}`)}
	for _, a := range []Action{ok, failed, refused, running, image, typed} {
		receive(t, j, a)
	}
	must(t, j.Begin(ok.Key))
	must(t, j.Finish(ok.Key, result("fine")))
	must(t, j.Finish(failed.Key, Result{"exec_result", json.RawMessage(`{"exitCode":1}`)}))
	must(t, j.Finish(refused.Key, Result{"exec_result", json.RawMessage(`{"exitCode":-1,"failure":{"name":"policy_denied"}}`)}))
	must(t, j.Delivered(outbox(t, j)[0]))

	list := func(f Filter) []Record {
		records, err := j.List(f)
		must(t, err)
		return records
	}
	names := func(f Filter) (refs []string) {
		for _, r := range list(f) {
			refs = append(refs, r.Key.Ref)
		}
		return refs
	}
	for _, c := range []struct {
		filter Filter
		want   []string
	}{
		{Filter{}, []string{"typed", "image", "running", "refused", "failed", "ok"}},
		{Filter{Limit: 2}, []string{"typed", "image"}},
		{Filter{Project: project, Failed: true}, []string{"refused", "failed"}},
		{Filter{Ref: "ok"}, []string{"ok"}},
		{Filter{Server: "https://other"}, nil},
		{Filter{Since: list(Filter{Ref: "image"})[0].Received}, []string{"typed", "image"}},
	} {
		if diff := cmp.Diff(c.want, names(c.filter)); diff != "" {
			t.Errorf("%+v: %s", c.filter, diff)
		}
	}
	r := list(Filter{Ref: "ok"})[0]
	if r.Text != "ls" || r.ExitCode == nil || *r.ExitCode != 0 || r.Failure != "" {
		t.Errorf("%+v", r)
	}
	if !(start.Before(r.Received) && r.Received.Before(r.Begun) && r.Begun.Before(r.Finished) && r.Finished.Before(r.Delivered)) {
		t.Errorf("times: %+v", r)
	}
	if r := list(Filter{Ref: "refused"})[0]; r.Failure != "policy_denied" || *r.ExitCode != -1 || !r.Begun.IsZero() {
		t.Errorf("%+v", r)
	}
	if r := list(Filter{Ref: "running"})[0]; r.Text != strings.Repeat("é", 2048) || r.ExitCode != nil || !r.Finished.IsZero() {
		t.Errorf("%d bytes of text, %+v", len(r.Text), r.ExitCode)
	}
	if image, typed := list(Filter{Ref: "image"})[0].Text, list(Filter{Ref: "typed"})[0].Text; image != "node:20" || typed != "git_push" {
		t.Error(image, typed)
	}
}
