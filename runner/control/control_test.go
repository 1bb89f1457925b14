package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// Variables that make this test's binary another program.
const (
	asClient = "CONTROL_TEST_ASK"    // asks the daemon of a folder, prints the failure's name or "answered", and ends
	asDaemon = "CONTROL_TEST_DAEMON" // is the daemon of a folder, which prints a line once it listens
	asCaller = "CONTROL_TEST_CALL"   // connects to a TCP address, and stays
	apart    = "apart "              // in front of it: by a thread that shares its open files with no other
	hidden   = "hidden "             // in front of it: and has it open no more, but in the queue of another socket
)

func TestMain(m *testing.M) {
	if folder := os.Getenv(asClient); folder != "" {
		ask(folder)
		return
	}
	if folder := os.Getenv(asDaemon); folder != "" {
		beDaemon(folder)
		return
	}
	if address := os.Getenv(asCaller); address != "" {
		call(address)
		return
	}
	goleak.VerifyTestMain(m)
}

func ask(folder string) {
	_, err := NewClient(folder).Status(context.Background())
	if err == nil {
		fmt.Println("answered")
		return
	}
	if f := failure.As(err); f != nil {
		fmt.Println(f.Name)
		return
	}
	fmt.Println(err)
}

// beDaemon listens until its input ends.
func beDaemon(folder string) {
	s, err := Listen(Options{Folder: folder, Status: full, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("listening")
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = s.Close()
}

// call keeps a connection until its input ends.
func call(address string) {
	if address, apart := strings.CutPrefix(address, apart); apart {
		callApart(address)
		return
	}
	address, hidden := strings.CutPrefix(address, hidden)
	conn, err := net.Dial("tcp", address)
	if err == nil && hidden {
		err = hide(conn)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("connected")
	_, _ = io.Copy(io.Discard, os.Stdin)
	conn.Close()
}

// full is a status with something in every field.
func full() Status {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	fail := failure.New(failure.ServerUnreachable, "project p")
	return Status{
		Version: "1.2.3", PID: 42, Since: at, Server: "https://brabo.example", Folder: "/state", Stopping: true,
		Projects: []Project{{
			ID: "p", Root: "/home/ana/p", State: Waiting, Since: at, Until: at.Add(time.Second), Failure: fail, LastContact: at,
			Extensions: []string{"ack"}, Running: []Running{{Event: "exec", Ref: "r1", Since: at}}, Queued: 3, Terminals: 2,
		}},
		Health:     []Item{{Severity: Warning, Failure: fail}},
		Counters:   Counters{Received: 6, Started: 5, Finished: 4, Delivered: 3, Waiting: 1, Reconnects: 2},
		Memory:     Memory{Heap: 1 << 20, Total: 2 << 20},
		Goroutines: 7, Journal: Journal{Bytes: 4096},
		Engine: &Engine{Name: "Docker", Version: "20.10", API: "1.41", Address: "unix:///run/docker.sock", Facts: "Docker 20.10"},
	}
}

func serve(t *testing.T, folder string) {
	t.Helper()
	s, err := Listen(Options{Folder: folder, Status: full, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		_, err := NewClient(folder).Status(context.Background())
		failuretest.Produced(t, err, failure.DaemonNotRunning)
	})
}

// TestAnswerIsTheWholeStatus asks in this process, which is no descendant of itself.
func TestAnswerIsTheWholeStatus(t *testing.T) {
	folder := t.TempDir()
	serve(t, folder)
	got, err := NewClient(folder).Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(full(), got); diff != "" {
		t.Error(diff)
	}
}

func TestFormOfTheAnswerIsStable(t *testing.T) {
	want, err := os.ReadFile(filepath.Join("testdata", "status.json"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(full(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(string(want)), string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestFolderWithALongNameHasASocketToo(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a socket's path is bounded here")
	}
	folder := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	serve(t, folder)
	if _, err := NewClient(folder).Status(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestOldSocketIsReplaced(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(address(folder), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	serve(t, folder)
	if _, err := NewClient(folder).Status(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestSocketThatCannotBeMadeIsNamed(t *testing.T) {
	_, err := Listen(Options{Folder: filepath.Join(t.TempDir(), "missing"), Status: full, Log: slog.New(slog.DiscardHandler)})
	failuretest.Produced(t, err, failure.ControlFailed)
}

func TestFindAsksEveryDaemonThatRuns(t *testing.T) {
	state := t.TempDir()
	for _, name := range []string{"one", "two", "ended"} {
		if err := os.MkdirAll(ProjectFolder(state, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	serve(t, state)
	serve(t, ProjectFolder(state, "two"))
	found := Find(context.Background(), state)
	if len(found) != 2 || found[0].Folder != state || found[1].Folder != ProjectFolder(state, "two") {
		t.Fatalf("%+v", found)
	}
	for _, f := range found {
		if f.Err != nil || f.Status.PID != 42 {
			t.Errorf("%+v", f)
		}
	}
	if found := Find(context.Background(), filepath.Join(state, "missing")); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

// TestAnswerThatMakesNoSenseIsNamed has somebody else on the socket.
func TestAnswerThatMakesNoSenseIsNamed(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"not JSON":        func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") },
		"another status":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) },
		"an empty object": func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusForbidden, struct{}{}) },
		"hangs up":        func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			listener, remove, err := listen(folder)
			if err != nil {
				t.Fatal(err)
			}
			server := http.Server{Handler: handler}
			done := make(chan error, 1)
			go func() { done <- server.Serve(listener) }()
			_, err = NewClient(folder).Status(context.Background())
			failuretest.Produced(t, err, failure.ControlFailed)
			if err := errors.Join(server.Close(), remove()); err != nil {
				t.Error(err)
			}
			<-done
		})
	}
}
