package runner

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/journal"
)

// openJournal opens the journal in folder as a daemon would.
func openJournal(t testing.TB, folder string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(journal.Options{Folder: folder, Keep: 24 * time.Hour, Size: 10 << 20, Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// leave writes down an action as a daemon does that is killed thereafter.
func leave(t *testing.T, j *journal.Journal, server, ref, payload string, deadline time.Time, begun bool) {
	t.Helper()
	key := journal.Key{Server: server, Project: "p", Event: "exec", Ref: ref}
	digest, err := action.Digest(json.RawMessage(payload))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Receive(journal.Action{Key: key, Digest: digest, Payload: json.RawMessage(payload), Received: time.Now(), Deadline: deadline}); err != nil {
		t.Fatal(err)
	}
	if begun {
		if err := j.Begin(key); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatAnEarlierDaemonLeftIsFinishedByName(t *testing.T) {
	e, state := newEngine(t, action.Known()...), t.TempDir()
	earlier := openJournal(t, state)
	ahead, passed := time.Now().Add(time.Hour), time.Now().Add(-time.Second)
	leave(t, earlier, e.URL, "begun", `{"ref":"begun","command":"touch begun"}`, ahead, true)
	leave(t, earlier, e.URL, "late", `{"ref":"late","command":"touch late"}`, passed, false)
	leave(t, earlier, e.URL, "secret", `{"ref":"secret","command":"touch secret","env":{"A":"b"}}`, ahead, false)
	leave(t, earlier, e.URL, "denied", `{"ref":"denied","command":"rm -rf /"}`, ahead, false)
	leave(t, earlier, e.URL, "ready", `{"ref":"ready","command":"echo ran"}`, ahead, false)
	leave(t, earlier, "https://another", "foreign", `{"ref":"foreign","command":"touch foreign"}`, ahead, false)
	if err := earlier.Close(); err != nil {
		t.Fatal(err)
	}

	later := openJournal(t, state)
	d := startDaemon(t, e, func(o *Options) { o.Ledger = later })
	results := map[string]action.ExecResult{}
	for range 5 {
		r := e.result(t)
		results[r.Ref] = r
	}
	d.stop()
	if err := d.wait(t); err != nil {
		t.Error(err)
	}
	for ref, want := range map[string]failure.Name{
		"begun": failure.Interrupted, "late": failure.ExpiredBeforeStart, "secret": failure.Interrupted, "denied": failure.PolicyDenied,
	} {
		failuretest.Produced(t, results[ref].Failure, want)
		if _, err := os.Stat(filepath.Join(d.root, ref)); err == nil {
			t.Errorf("%s ran", ref)
		}
	}
	if r := results["ready"]; r.Output != "ran\n" || r.ExitCode != 0 {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(d.root, "foreign")); err == nil {
		t.Error("an action of another server ran")
	}
	left, err := later.Unfinished()
	if err != nil || len(left) != 1 || left[0].Key.Ref != "foreign" {
		t.Errorf("left: %+v, %v", left, err)
	}
	if err := later.Close(); err != nil {
		t.Error(err)
	}
}

// TestStopDuringTheStartLeavesTheRestForTheNext stops a daemon before it has looked at what an earlier one left.
func TestStopDuringTheStartLeavesTheRestForTheNext(t *testing.T) {
	e, state := newEngine(t, action.Known()...), t.TempDir()
	earlier := openJournal(t, state)
	leave(t, earlier, e.URL, "begun", `{"ref":"begun","command":"touch begun"}`, time.Now().Add(time.Hour), true)
	if err := earlier.Close(); err != nil {
		t.Fatal(err)
	}
	later := openJournal(t, state)
	o := testOptions(t, e, t.TempDir(), &logBook{})
	o.Ledger = later
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if err := New(o).Run(stopped, Fixed()); err != nil {
		t.Fatal(err)
	}
	left, err := later.Unfinished()
	if err != nil || len(left) != 1 || left[0].Key.Ref != "begun" {
		t.Errorf("left: %+v, %v", left, err)
	}
	if err := later.Close(); err != nil {
		t.Error(err)
	}
}

// TestResultsNeverReachAnotherServer serves the same project of a second server, as after a new pairing, with what the
// first is still owed.
func TestResultsNeverReachAnotherServer(t *testing.T) {
	first, second, state := newEngine(t, action.Known()...), newEngine(t, action.Known()...), t.TempDir()
	first.mute = true // its results stay due
	serve := func(e *engine, during func()) {
		j := openJournal(t, state)
		d := startDaemon(t, e, func(o *Options) { o.Ledger, o.DrainGrace = j, 0 })
		e.joined(t)
		during()
		d.stop()
		if err := d.wait(t); err != nil {
			t.Error(err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
	serve(first, func() {
		first.exec(t, "owed", "echo first", "")
		first.result(t)
	})
	serve(second, func() {
		second.exec(t, "owed", "echo second", "") // the same ref is another action here
		if r := second.result(t); r.Output != "second\n" {
			t.Errorf("%+v", r)
		}
	})
	for len(second.heard) > 0 {
		if msg := <-second.heard; msg.Event == action.EventExecResult {
			t.Errorf("the second server heard %s", msg.Payload)
		}
	}
	serve(first, func() {
		if r := first.result(t); r.Ref != "owed" || r.Output != "first\n" {
			t.Errorf("%+v", r)
		}
	})
}

func TestActionsSurviveInTheJournalAcrossRestarts(t *testing.T) {
	e, state, base := newEngine(t, action.Known()...), t.TempDir(), t.TempDir()
	for round := range 2 {
		j := openJournal(t, state)
		d := startDaemonIn(t, e, base, func(o *Options) { o.Ledger = j })
		e.joined(t)
		e.exec(t, "a", "echo run >>runs; wc -l <runs", "")
		if r := e.result(t); r.Output != "1\n" {
			t.Errorf("round %d: %+v", round, r)
		}
		d.stop()
		if err := d.wait(t); err != nil {
			t.Error(err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
}
