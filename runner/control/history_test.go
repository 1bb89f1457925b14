package control

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestHistoryIsAskedForAndAnswered(t *testing.T) {
	folder := t.TempDir()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	code := 3
	want := []Action{{Server: "s", Project: "p", Event: "exec", Ref: "r", Text: "ls", Received: at, Finished: at, ExitCode: &code}}
	var asked []Query
	s, err := Listen(Options{Folder: folder, Log: slog.New(slog.DiscardHandler), History: func(q Query) ([]Action, error) {
		asked = append(asked, q)
		if q.Ref == "none" {
			return nil, nil
		}
		if q.Ref == "bad" {
			return nil, errors.New("no disk")
		}
		return want, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := NewClient(folder)
	q := Query{Project: "p", Ref: "r", Since: at, Failed: true, Limit: 7}
	got, err := c.History(context.Background(), q)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if got, err := c.History(context.Background(), Query{Ref: "none"}); err != nil || got == nil || len(got) > 0 {
		t.Error(got, err)
	}
	if diff := cmp.Diff([]Query{q, {Ref: "none"}}, asked); diff != "" {
		t.Error(diff)
	}
	_, err = c.History(context.Background(), Query{Ref: "bad"})
	failuretest.Produced(t, err, failure.Internal)
	for _, path := range []string{"/history?limit=many", "/history?failed=perhaps", "/history?since=yesterday"} {
		failuretest.Produced(t, c.get(context.Background(), path, &got), failure.ControlFailed)
	}
}
