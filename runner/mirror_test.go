package runner

import (
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
