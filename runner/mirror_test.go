package runner

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/workspace/git"
)

func TestMirrorAndTypedActionsWantAGit(t *testing.T) {
	e := newEngine(t, action.Known()...)
	startDaemon(t, e)
	if got := string(e.hear(t, "join").Payload); strings.Contains(got, "espelho") || strings.Contains(got, "ext:action") {
		t.Error(got)
	}
	with := newEngine(t, action.Known()...)
	startDaemon(t, with, func(o *Options) { o.Git = &git.Git{} })
	if got := string(with.hear(t, "join").Payload); !strings.Contains(got, `"exec","espelho"`) || !strings.Contains(got, "ext:action") {
		t.Error(got)
	}
}

// TestDestinationHoldsForOneConnection: a mirror is not synced to what an earlier join granted.
func TestDestinationHoldsForOneConnection(t *testing.T) {
	e := newEngine(t, action.Known()...)
	base := t.TempDir()
	e.mirror = filepath.Join(base, "copy")
	startDaemonIn(t, e, base, func(o *Options) { o.Git = &git.Git{} })
	e.joined(t)
	e.mu.Lock()
	e.mirror = ""
	e.mu.Unlock()
	e.drop()
	e.joined(t)
	e.send(t, action.EventMirrorSync, `{"ref":"a","destino":"`+filepath.Join(base, "copy")+`"}`)
	var r action.MirrorSyncResult
	if err := json.Unmarshal(e.hear(t, action.EventMirrorSyncResult).Payload, &r); err != nil {
		t.Fatal(err)
	}
	failuretest.Produced(t, r.Failure, failure.MirrorNotGranted)
	if _, err := os.Stat(filepath.Join(base, "copy")); err == nil {
		t.Error("the mirror was made")
	}
}

// TestMirrorStaysOutOfOtherProjects: what the server granted may still be another project's folder.
func TestMirrorStaysOutOfOtherProjects(t *testing.T) {
	e := newEngine(t, action.Known()...)
	base := t.TempDir()
	e.mirror = filepath.Join(base, "other", "copy")
	o := testOptions(t, e, base, &logBook{})
	o.Git = &git.Git{}
	ctx, cancel := context.WithCancel(context.Background())
	lists, done := make(chan []Project), make(chan error, 1)
	go func() { done <- New(o).Run(ctx, lists) }()
	defer func() {
		cancel()
		<-done
	}()
	other, p := Project{"other", filepath.Join(base, "other")}, Project{"p", filepath.Join(base, "project")}
	lists <- []Project{other}
	e.joined(t)
	lists <- []Project{other, p} // what is sent from now on is p's
	e.joined(t)
	e.send(t, action.EventMirrorSync, `{"ref":"a","destino":"`+e.mirror+`"}`)
	var r action.MirrorSyncResult
	if err := json.Unmarshal(e.hear(t, action.EventMirrorSyncResult).Payload, &r); err != nil {
		t.Fatal(err)
	}
	failuretest.Produced(t, r.Failure, failure.MirrorNotAllowed)
	if _, err := os.Stat(e.mirror); err == nil || r.Destino != "" {
		t.Errorf("the mirror was made, or told of: %+v", r)
	}
}
