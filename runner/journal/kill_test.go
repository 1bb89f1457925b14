package journal

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// childFolder, when set, makes the test binary a daemon that journals into this folder until it is killed.
const childFolder = "JOURNAL_TEST_FOLDER"

func TestMain(m *testing.M) {
	if folder := os.Getenv(childFolder); folder != "" {
		if err := journalForEver(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// journalForEver takes actions their way and says each step on stdout once the journal has acknowledged it.
func journalForEver(folder string) error {
	j, err := Open(Options{Folder: folder, Keep: 1e18, Size: 1 << 30, Reserve: 64 << 10})
	if err != nil {
		return err
	}
	text := strings.Repeat("x", 5000)
	for i := 0; ; i++ {
		ref := fmt.Sprint(os.Getpid(), "-", i)
		a := command(ref, "ls")
		if _, err := j.Receive(a); err != nil {
			return err
		}
		fmt.Println("received", ref)
		if err := j.Begin(a.Key); err != nil {
			return err
		}
		fmt.Println("begun", ref)
		if err := j.Started(a.Key, Process{PID: i + 1}); err != nil {
			return err
		}
		fmt.Println("started", ref)
		if i%3 == 0 {
			continue // runs for ever
		}
		if err := j.Finish(a.Key, result(text)); err != nil {
			return err
		}
		fmt.Println("finished", ref)
	}
}

// Starts the test binary itself as a daemon and kills it.
func TestNothingAcknowledgedIsLostWhenTheDaemonIsKilled(t *testing.T) {
	o := ordinary(t)
	o.Size = 1 << 30
	steps := map[string]string{} // the last step of each ref that was acknowledged
	for round := range 12 {
		for ref, step := range killAfter(t, o.Folder, 1+rand.IntN(400)) {
			steps[ref] = step
		}
		j, err := Open(o) // at once: the killed daemon holds no lock
		must(t, err)
		if j.Replaced() != nil {
			t.Fatalf("round %d: %v", round, j.Replaced())
		}
		unfinished := map[string]Unfinished{}
		left, err := j.Unfinished()
		must(t, err)
		for _, u := range left {
			unfinished[u.Key.Ref] = u
		}
		due := map[string]bool{}
		for _, ref := range refs(t, j) {
			due[ref] = true
		}
		for ref, step := range steps {
			u, open := unfinished[ref]
			switch {
			case step == "finished" && !due[ref],
				step != "finished" && !open && !due[ref],
				open && step != "received" && u.Begun.IsZero(),
				open && step == "started" && u.Process.PID == 0,
				open && due[ref]:
				t.Errorf("round %d: %s was acknowledged as %s: unfinished %v %+v, due %v", round, ref, step, open, u, due[ref])
			}
		}
		must(t, j.Close())
	}
	if len(steps) < 12 {
		t.Errorf("only %d actions were acknowledged", len(steps))
	}
}

// killAfter lets a daemon journal until it has said so many lines, kills it, and gives the last step of each ref.
func killAfter(t *testing.T, folder string, lines int) map[string]string {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childFolder+"="+folder)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	must(t, err)
	must(t, child.Start())
	steps := map[string]string{}
	reader := bufio.NewReader(out)
	for n := 1; ; n++ {
		line, err := reader.ReadString('\n')
		if err != nil {
			break // killed; a line that was cut was not said
		}
		step, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		steps[ref] = step
		if n == lines {
			must(t, child.Process.Kill())
		}
	}
	if err := child.Wait(); err == nil || child.ProcessState.ExitCode() == 1 {
		t.Fatalf("the daemon ended by itself: %v", err)
	}
	return steps
}
