package exec

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// heldBetween is a program between that waits until it is traced, says that it can't go on, and stays. A killed process
// that is traced does not end for its parent, much as one that the kernel holds.
func heldBetween(words []string) int {
	_ = unix.Prctl(unix.PR_SET_PTRACER, ^uintptr(0), 0, 0, 0) // unknown where anybody may trace
	if err := os.WriteFile(words[0]+".part", fmt.Appendln(nil, os.Getpid()), 0o600); err != nil {
		return 1
	}
	if err := os.Rename(words[0]+".part", words[0]); err != nil {
		return 1
	}
	for {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return 1
		}
		if !bytes.Contains(status, []byte("\nTracerPid:\t0\n")) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	report := os.NewFile(reportFD, "report")
	fmt.Fprint(report, `{"Cause":"it is held"}`)
	report.Close()
	time.Sleep(time.Hour)
	return 0
}

// tracer traces the process whose number comes to be in the file, until its own input ends.
func tracer(words []string) int {
	runtime.LockOSThread() // a thread traces, not a process
	for {
		text, err := os.ReadFile(words[0])
		if pid, notYet := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && notYet == nil {
			if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0, 0, 0, 0); errno != 0 {
				fmt.Println(errno)
				return 1
			}
			break
		}
		time.Sleep(time.Millisecond)
	}
	fmt.Println("traces")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// Runs this test's binary as the program between: one that does not end when it is killed is not waited for.
func TestProgramBetweenThatTheKernelHoldsIsGivenUp(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	traces := osexec.Command(os.Args[0], asTracer, file)
	traces.Stderr = os.Stderr
	stop, err := traces.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := traces.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := traces.Start(); err != nil {
		t.Fatal(err)
	}
	c := command(t, `echo ran`)
	c.Bounds = Bounds{Limits: Limits{OpenFiles: 64}, Helper: []string{os.Args[0], asHeld, file}}
	done := make(chan Result, 1)
	go func() { done <- Run(context.Background(), c) }()
	said, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || said != "traces\n" {
		<-done
		t.Skipf("no process can be traced here: %s, %v", said, err)
	}
	select {
	case r := <-done:
		failuretest.Produced(t, r.Failure, failure.ConfinementUnavailable)
		if r.Output != "" {
			t.Errorf("%+v", r)
		}
	case <-time.After(time.Minute):
		t.Error("it is waited for")
	}
	stop.Close()
	if err := traces.Wait(); err != nil {
		t.Error(err)
	}
	pid, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err != nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("nobody collects it when it has ended")
		}
	}
}
