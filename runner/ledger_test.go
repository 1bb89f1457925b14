package runner

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func key(ref string) Key { return Key{"https://hub", "p", "exec", ref} }

func result(text string) Result { return Result{"exec_result", json.RawMessage(`"` + text + `"`)} }

func refs(t *testing.T, l Ledger) []string {
	t.Helper()
	due, err := l.Due("https://hub", "p")
	if err != nil {
		t.Fatal(err)
	}
	var refs []string
	for _, d := range due {
		refs = append(refs, d.Key.Ref)
	}
	return refs
}

func receive(t *testing.T, l Ledger, ref, content string) Known {
	t.Helper()
	known, err := l.Receive(key(ref), [32]byte([]byte(content + strings.Repeat(" ", 32))[:32]))
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
		want    Known
	}{
		{"ls", false, KnownNew},
		{"ls", false, KnownRunning},
		{"rm", false, KnownReused},
		{"ls", true, KnownFinished},
		{"rm", false, KnownReused},
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
	if due, _ := l.Due("https://other", "p"); len(due) > 0 {
		t.Error("results of one server are due at another")
	}
}

func TestDeliveredResultIsDueAgainOnlyWhenItWasAskedForAgain(t *testing.T) {
	l := &MemoryLedger{}
	receive(t, l, "a", "ls")
	if err := l.Finish(key("a"), result("a")); err != nil {
		t.Fatal(err)
	}
	old, _ := l.Due("https://hub", "p")
	receive(t, l, "a", "ls") // asked again while the first delivery is under way
	if err := l.Delivered(old[0]); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a"}, refs(t, l)); diff != "" {
		t.Error("the second answer was lost with the first:", diff)
	}
	again, _ := l.Due("https://hub", "p")
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
	due, _ := l.Due("https://hub", "p")
	if len(due) != 1 || string(due[0].Result.Payload) != `"first"` {
		t.Errorf("%+v", due)
	}
}

func TestLedgerIsBoundedAndSaysWhatItDropped(t *testing.T) {
	var dropped []string
	l := &MemoryLedger{Dropped: func(d Due) { dropped = append(dropped, d.Key.Ref) }}
	receive(t, l, "running", "ls")
	big := Result{"exec_result", json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)}
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
	if got := receive(t, l, "running", "ls"); got != KnownRunning {
		t.Errorf("a running action was forgotten: %v", got)
	}
	if l.bytes > memoryBytes {
		t.Errorf("holds %d bytes", l.bytes)
	}
}
