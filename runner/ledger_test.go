package runner

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/journal"
)

func key(ref string) journal.Key {
	return journal.Key{Server: "https://hub", Project: "p", Event: "exec", Ref: ref}
}

func result(text string) journal.Result {
	return journal.Result{Event: "exec_result", Payload: json.RawMessage(`"` + text + `"`)}
}

func refs(t *testing.T, l Ledger) []string {
	t.Helper()
	due, err := l.Due("https://hub", "p", 0)
	if err != nil {
		t.Fatal(err)
	}
	var refs []string
	for _, d := range due {
		refs = append(refs, d.Key.Ref)
	}
	return refs
}

func receive(t *testing.T, l Ledger, ref, content string) journal.Known {
	t.Helper()
	known, err := l.Receive(journal.Action{Key: key(ref), Digest: [32]byte([]byte(content + strings.Repeat(" ", 32))[:32])})
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func TestLedgerKnowsWhatItReceived(t *testing.T) {
	l := &MemoryLedger{}
	for _, step := range []struct {
		content string
		finish  bool
		want    journal.Known
	}{
		{"ls", false, journal.New},
		{"ls", false, journal.Running},
		{"rm", false, journal.Reused},
		{"ls", true, journal.Finished},
		{"rm", false, journal.Reused},
	} {
		if step.finish {
			if err := l.Finish(key("a"), result("done")); err != nil {
				t.Fatal(err)
			}
		}
		if got := receive(t, l, "a", step.content); got != step.want {
			t.Errorf("%+v: %v", step, got)
		}
	}
}

func TestResultsAreDueInTheOrderInWhichTheyFinished(t *testing.T) {
	l := &MemoryLedger{}
	for _, ref := range []string{"a", "b", "c"} {
		receive(t, l, ref, ref)
	}
	for _, ref := range []string{"b", "c", "a"} {
		if err := l.Finish(key(ref), result(ref)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"b", "c", "a"}, refs(t, l)); diff != "" {
		t.Error(diff)
	}
	if due, _ := l.Due("https://other", "p", 0); len(due) > 0 {
		t.Error("results of one server are due at another")
	}
	due, _ := l.Due("https://hub", "p", 0)
	if err := l.Delivered(due[1]); err != nil { // before the first
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b", "a"}, refs(t, l)); diff != "" {
		t.Error(diff)
	}
	if later, _ := l.Due("https://hub", "p", due[0].Serial); len(later) != 1 || later[0].Key.Ref != "a" {
		t.Errorf("behind the first is %+v", later)
	}
	if n, _ := l.Waiting("https://hub", ""); n != 2 {
		t.Errorf("%d wait", n)
	}
}

func TestDeliveredResultIsDueAgainOnlyWhenItWasAskedForAgain(t *testing.T) {
	l := &MemoryLedger{}
	receive(t, l, "a", "ls")
	if err := l.Finish(key("a"), result("a")); err != nil {
		t.Fatal(err)
	}
	old, _ := l.Due("https://hub", "p", 0)
	receive(t, l, "a", "ls") // asked again while the first delivery is under way
	if err := l.Delivered(old[0]); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a"}, refs(t, l)); diff != "" {
		t.Error("the second answer was lost with the first:", diff)
	}
	again, _ := l.Due("https://hub", "p", 0)
	if err := l.Delivered(again[0]); err != nil {
		t.Fatal(err)
	}
	if len(refs(t, l)) > 0 {
		t.Error("a delivered result is still due")
	}
}

func TestSecondResultOfAnActionIsIgnored(t *testing.T) {
	l := &MemoryLedger{}
	receive(t, l, "a", "ls")
	for _, text := range []string{"first", "second"} {
		if err := l.Finish(key("a"), result(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Finish(key("never received"), result("x")); err != nil {
		t.Fatal(err)
	}
	due, _ := l.Due("https://hub", "p", 0)
	if len(due) != 1 || string(due[0].Result.Payload) != `"first"` {
		t.Errorf("%+v", due)
	}
}

func TestLedgerIsBoundedAndSaysWhatItDropped(t *testing.T) {
	var dropped []string
	l := &MemoryLedger{Dropped: func(d journal.Due) { dropped = append(dropped, d.Key.Ref) }}
	receive(t, l, "running", "ls")
	big := journal.Result{Event: "exec_result", Payload: json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)}
	for i := range 70 {
		ref := string(rune('A' + i))
		receive(t, l, ref, ref)
		if err := l.Finish(key(ref), big); err != nil {
			t.Fatal(err)
		}
	}
	if len(dropped) != 7 || dropped[0] != "A" {
		t.Errorf("dropped %v", dropped)
	}
	if due := refs(t, l); len(due) != 63 || due[0] != "H" {
		t.Errorf("due is %v", due)
	}
	if got := receive(t, l, "running", "ls"); got != journal.Running {
		t.Errorf("a running action was forgotten: %v", got)
	}
	if l.bytes > memoryBytes {
		t.Errorf("holds %d bytes", l.bytes)
	}
}

// forgetfulLedger can't store the result of one ref.
type forgetfulLedger struct {
	Ledger
	ref string
}

func (l forgetfulLedger) Finish(k journal.Key, r journal.Result) error {
	if k.Ref == l.ref {
		return errors.New("the disk is full")
	}
	return l.Ledger.Finish(k, r)
}

// Needs bash. An action counts as finished when its result is stored, and not before.
func TestActionWhoseResultIsNotStoredIsNotFinished(t *testing.T) {
	e := newEngine(t)
	d := startDaemon(t, e, func(o *Options) { o.Ledger = forgetfulLedger{&MemoryLedger{}, "lost"} })
	e.joined(t)
	e.exec(t, "lost", "true", "")
	const lost, finished = `"msg":"a result could not be stored"`, `"msg":"finished"`
	for deadline := time.Now().Add(time.Minute); !strings.Contains(d.log.String(), lost); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing was said of the result")
		}
	}
	e.exec(t, "kept", "true", "")
	if r := e.result(t); r.Ref != "kept" {
		t.Errorf("%+v", r)
	}
	d.stop()
	if err := d.wait(t); err != nil {
		t.Error(err)
	}
	if n := strings.Count(d.log.String(), finished); n != 1 || !strings.Contains(d.log.String(), finished+`,"project":"p","ref":"kept"`) {
		t.Errorf("%d actions are said to be finished:\n%s", n, d.log.String())
	}
}
