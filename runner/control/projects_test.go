package control

import (
	"log/slog"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestDaemonIsToldToLookAgain(t *testing.T) {
	folder := t.TempDir()
	failuretest.Produced(t, NewClient(folder).LookAgain(t.Context()), failure.DaemonNotRunning)
	told := 0
	for _, lookAgain := range []func(){func() { told++ }, nil} {
		s, err := Listen(Options{Folder: folder, Log: slog.New(slog.DiscardHandler), LookAgain: lookAgain})
		if err != nil {
			t.Fatal(err)
		}
		if err := NewClient(folder).LookAgain(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}
