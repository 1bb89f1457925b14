package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/hub"
)

// number reads a whole number from the environment.
func number(t *testing.T, name string, byDefault int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return byDefault
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// story is a run of actions over a bad network and a daemon that is killed now and then.
type story struct {
	t         *testing.T
	random    *rand.Rand
	hub       *hub.Hub
	proxy     *faultProxy
	home      string
	root      string
	daemon    *process
	ids       []string
	injected  map[string]int
	swallowed int
}

// TestFaultStory runs actions while it randomly cuts, resets, delays and swallows the connection and kills the daemon:
// each action must have run exactly once or be told as interrupted, and every one must have an outcome. What ran is
// read from the disk, not from what the daemon says.
//
// The long form: RUNNER_FAULT_ACTIONS=2000 RUNNER_FAULT_SEED=7 go test -run TestFaultStory -timeout 60m ./cmd/runner
func TestFaultStory(t *testing.T) {
	home := inHome(t)
	seed, actions := number(t, "RUNNER_FAULT_SEED", 1), number(t, "RUNNER_FAULT_ACTIONS", 200)
	h, url, root, _ := startHub(t, home)
	t.Setenv("RUNNER_CONNECT_BACKOFF_MAX", "5s")
	t.Setenv("RUNNER_CONNECT_STABLE_AFTER", "5s")
	t.Setenv("RUNNER_CONNECT_HEARTBEAT", "5s")
	s := &story{
		t: t, random: rand.New(rand.NewPCG(uint64(seed), 0)), hub: h, proxy: newFaultProxy(t, url), home: home, root: root,
		injected: map[string]int{},
	}
	s.daemon = startProcess(t, home, root, s.proxy.url)
	awaitRunner(t, h)
	for len(s.ids) < actions {
		s.propose(1 + s.random.IntN(5))
		if s.random.IntN(4) == 0 {
			s.fault()
		}
	}
	s.proxy.set(func() { s.proxy.delay, s.proxy.swallow = 0, false })
	s.judge()
	t.Logf("seed %d: %d actions, injected %v", seed, len(s.ids), s.injected)
}

// propose proposes n commands, each of which leaves a line when it begins and one when it ends.
func (s *story) propose(n int) {
	for range n {
		name := strconv.Itoa(len(s.ids))
		pause := s.random.IntN(300)
		command := fmt.Sprintf("echo %s >>begun; sleep 0.%03d; echo %s >>ended", name, pause, name)
		s.ids = append(s.ids, proposeText(s.t, s.hub, command))
	}
}

// fault makes something go wrong.
func (s *story) fault() {
	switch kind := s.random.IntN(10); {
	case kind < 3:
		s.injected["cut"]++
		s.proxy.cut(false)
	case kind < 6:
		s.injected["reset"]++
		s.proxy.cut(true)
	case kind < 7:
		s.injected["delay"]++
		delay := time.Duration(s.random.IntN(20)) * time.Millisecond
		s.proxy.set(func() { s.proxy.delay = delay })
	case kind < 8 && s.swallowed < 1:
		// A connection that is dead without a word is noticed by its heartbeat only, which takes a while.
		s.injected["swallow"]++
		s.swallowed++
		awaitAction(s.t, s.hub, proposeText(s.t, s.hub, "true")) // the present connection lives
		s.proxy.set(func() { s.proxy.swallow = true })
		s.awaitGone()
		s.proxy.set(func() { s.proxy.swallow = false })
	default:
		s.injected["kill"]++
		s.daemon.kill()
		s.daemon = startProcess(s.t, s.home, s.root, s.proxy.url)
	}
	awaitRunner(s.t, s.hub)
}

// awaitGone waits until the daemon has given up its connection, which shows at the proxy.
func (s *story) awaitGone() {
	deadline := time.Now().Add(2 * time.Minute)
	for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
		if !s.hub.RunnerConnected("p") {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatal("a dead connection was never given up")
		}
	}
}

// judge compares what the hub was told with what is on the disk.
func (s *story) judge() {
	begun, ended := map[string]int{}, map[string]int{}
	outcomes := map[string]int{}
	actions := make([]hub.Action, len(s.ids))
	for i, id := range s.ids {
		actions[i] = awaitAction(s.t, s.hub, id)
	}
	count(s.t, filepath.Join(s.root, "begun"), begun)
	count(s.t, filepath.Join(s.root, "ended"), ended)
	for i, a := range actions {
		name := strconv.Itoa(i)
		switch {
		case a.Status == hub.Executed:
			outcomes["executed"]++
			if begun[name] != 1 || ended[name] != 1 {
				s.t.Errorf("action %s is told as executed and began %d times, ended %d times", name, begun[name], ended[name])
			}
		case a.Outcome.Failure != nil && a.Outcome.Failure.Name == failure.Interrupted:
			outcomes["interrupted"]++
			if begun[name] > 1 || ended[name] > 1 {
				s.t.Errorf("action %s is told as interrupted and began %d times", name, begun[name])
			}
		default:
			s.t.Errorf("action %s ended as %s: %+v", name, a.Status, a.Outcome)
		}
		delete(begun, name)
	}
	if len(begun) > 0 {
		s.t.Errorf("ran without having been proposed: %v", begun)
	}
	s.t.Logf("outcomes %v", outcomes)
}

func count(t *testing.T, path string, lines map[string]int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		lines[strings.TrimSpace(line)]++
	}
}
