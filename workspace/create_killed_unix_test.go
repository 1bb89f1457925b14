//go:build unix

package workspace

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// killStep and killBase tell a process of this test's binary to be killed in the midst of MakeProject.
const (
	killStep = "WORKSPACE_TEST_KILL_STEP"
	killBase = "WORKSPACE_TEST_KILL_BASE"
)

// killedAt clones, or begins an empty repository, below home in a process of its own, which is killed after so many steps
// of putting it in place.
func killedAt(t *testing.T, home string, step int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestIsKilledWhileItPutsARepositoryInPlace$")
	cmd.Env = append(os.Environ(), killStep+"="+strconv.Itoa(step), killBase+"="+home,
		"TMPDIR="+t.TempDir()) // it ends before it can remove its own
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !exit.Sys().(syscall.WaitStatus).Signaled() {
		t.Fatalf("it was not killed: %v\n%s", err, out)
	}
}

// killedCreate is the same creation in both processes.
func killedCreate(t *testing.T, home string) Create {
	c := cloning(creation(t))
	c.Base, c.Segment, c.Options = filepath.Join(home, "code"), "shop", Options{Home: home}
	return c
}

// TestIsKilledWhileItPutsARepositoryInPlace is the part of the process that killedAt starts.
func TestIsKilledWhileItPutsARepositoryInPlace(t *testing.T) {
	step, err := strconv.Atoi(os.Getenv(killStep))
	if err != nil {
		t.Skip("it is for a process that is to be killed")
	}
	c := killedCreate(t, os.Getenv(killBase))
	c.step = func() {
		if step--; step == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	_, err = MakeProject(t.Context(), c)
	t.Fatalf("it lived: %v", err)
}

// TestCloneKilledOnItsWayIntoPlaceIsFinished kills with SIGKILL between any two steps: before the first move, between
// the moves of README, src and .git in whatever order, and behind the last. What a person has put there since stays.
func TestCloneKilledOnItsWayIntoPlaceIsFinished(t *testing.T) {
	for step := 1; step <= 4; step++ {
		for name, after := range map[string]func(c Create) (kept bool, err error){
			"at the next start": func(c Create) (bool, error) { return true, c.Recover() },
			"at the next clone": func(c Create) (bool, error) {
				made, err := MakeProject(t.Context(), c)
				return made.Kept, err
			},
			"at the next init": func(c Create) (bool, error) {
				c.Clone = nil
				made, err := MakeProject(t.Context(), c)
				return made.Kept, err
			},
		} {
			t.Run(strconv.Itoa(step)+" "+name, func(t *testing.T) {
				home := realTemp(t)
				c := killedCreate(t, home)
				killedAt(t, home, step)
				path := filepath.Join(c.Base, c.Segment)
				put(t, filepath.Join(path, "draft"), "mine")
				put(t, filepath.Join(path, "README"), "mine") // over the clone's, or in its way
				if kept, err := after(c); err != nil || !kept {
					t.Fatalf("kept %v, %v", kept, err)
				}
				want := ".git/\nREADME: mine\ndraft: mine\nsrc/\nsrc/deep/\n"
				if got := sketch(t, path); got != want {
					t.Errorf("there is\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

// TestRepositoryThatAppearedMeanwhileStays: neither ours nor the person's is mixed into the other.
func TestRepositoryThatAppearedMeanwhileStays(t *testing.T) {
	home := realTemp(t)
	c := killedCreate(t, home)
	killedAt(t, home, 1)
	path := filepath.Join(c.Base, c.Segment)
	put(t, filepath.Join(path, ".git", "mine"), "mine")
	if err := c.Recover(); err != nil {
		t.Fatal(err)
	}
	if got := sketch(t, path); got != ".git/\n.git/mine: mine\n" {
		t.Errorf("there is\n%s", got)
	}
}

// TestWhatMerelyIsCalledAsOursStays: a link or a file is not followed, and not removed.
func TestWhatMerelyIsCalledAsOursStays(t *testing.T) {
	c := cloning(creation(t))
	c.Segment = "shop"
	path := mkdir(t, c.Base, "shop")
	put(t, filepath.Join(path, "src", ".git", "config"), "of a part")
	link(t, "src", path, wholeFolder+"X")
	put(t, filepath.Join(path, halfFolder+"X"), "a file")
	if err := c.Recover(); err != nil {
		t.Fatal(err)
	}
	if all := listed(t, path); all != halfFolder+"X "+wholeFolder+"X src" {
		t.Errorf("there is %s", all)
	}
}
