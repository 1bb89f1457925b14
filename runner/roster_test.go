package runner

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestProjectsComeAndGoWithTheList(t *testing.T) {
	e := newEngine(t)
	base := t.TempDir()
	lists := make(chan []Project)
	o := testOptions(t, e, base, &logBook{})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- New(o).Run(ctx, lists) }()

	one, two := Project{"one", filepath.Join(base, "one")}, Project{"two", filepath.Join(base, "two")}
	broken := Project{"broken", filepath.Join(base, "file")}
	if err := os.WriteFile(broken.Root, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	lists <- []Project{one, broken}
	e.joined(t)
	lists <- []Project{one, broken, two} // what is served already stays as it is
	e.joined(t)
	if topics := e.topics(); strings.Join(topics, " ") != "terminal:one terminal:two" {
		t.Errorf("joined %v", topics)
	}
	lists <- []Project{two} // a shorter list drops no live connection
	e.exec(t, "a", "pwd", "")
	if r := e.result(t); r.Output != two.Root+"\n" {
		t.Errorf("%+v", r)
	}
	e.drop() // now the one that is no longer listed ends
	e.joined(t)
	if topics := e.topics(); len(topics) != 3 || topics[2] != "terminal:two" {
		t.Errorf("joined %v", topics)
	}
	cancel()
	select {
	case err := <-done:
		failuretest.Produced(t, err, failure.RootNotFolder)
		if !strings.Contains(err.Error(), broken.Root) {
			t.Error(err)
		}
	case <-time.After(60 * time.Second):
		t.Fatal("the daemon did not end")
	}
}
