package main

import (
	"syscall"
	"time"
)

// kind is something that can go wrong. Those of more weight happen more often.
type kind struct {
	name   string
	weight int
	inject func(*story)
}

// faults are all kinds. A mute one is a connection that is dead without a word, which only the heartbeat notices; that
// takes a while, so their number is bounded.
func (s *story) faults() []kind {
	return []kind{
		{"cut", 4, func(s *story) { s.proxy.cut(false) }},
		{"reset", 4, func(s *story) { s.proxy.cut(true) }},
		{"torn message", 3, func(s *story) {
			s.proxy.set(func() { s.proxy.tear = true })
			proposeText(s.t, s.hub, "true") // something that can be torn
		}},
		{"delay", 2, func(s *story) {
			delay := time.Duration(s.random.IntN(20)) * time.Millisecond
			s.proxy.set(func() { s.proxy.delay = delay })
		}},
		{"server away", 3, func(s *story) {
			s.proxy.set(func() { s.proxy.closed = true })
			s.proxy.cut(true)
			s.pause(1500)
			s.proxy.set(func() { s.proxy.closed = false })
		}},
		{"hub restarted", 3, func(s *story) {
			s.host.stop()
			s.pause(500)
			s.host.start()
			s.hub = s.host.hub
		}},
		{"kill -9", 4, func(s *story) {
			s.daemon.kill()
			s.daemon = startProcess(s.t, s.home, s.root, s.proxy.url)
		}},
		{"SIGTERM", 1, func(s *story) {
			s.daemon.signal(s.t, syscall.SIGTERM)
			_ = s.daemon.cmd.Wait() // the exit code may say that results wait: the connection may be bad just then
			s.daemon = startProcess(s.t, s.home, s.root, s.proxy.url)
		}},
		{"SIGSTOP", 2, func(s *story) {
			s.daemon.signal(s.t, syscall.SIGSTOP)
			s.pause(1000)
			s.daemon.signal(s.t, syscall.SIGCONT)
		}},
		{"swallowed", 1, func(s *story) { s.silence(&s.proxy.swallow) }},
		{"half open", 1, func(s *story) { s.silence(&s.proxy.deaf) }},
	}
}

// fault makes something go wrong and waits until the daemon is there again.
func (s *story) fault() {
	all := s.faults()
	sum := 0
	for _, k := range all {
		sum += k.weight
	}
	pick := s.random.IntN(sum)
	i := 0
	for ; pick >= all[i].weight; i++ {
		pick -= all[i].weight
	}
	k := all[i]
	if k.name == "swallowed" || k.name == "half open" {
		if s.mute == 0 {
			k = all[0]
		} else {
			s.mute--
		}
	}
	s.injected[k.name]++
	k.inject(s)
	awaitRunner(s.t, s.hub)
}

// pause lets a fault last for a random time of at most ms; it is the fault's own length, not a wait for something.
func (s *story) pause(ms int) { time.Sleep(time.Duration(s.random.IntN(ms)) * time.Millisecond) }

// silence makes the connection dead until its daemon has given it up, which shows at the hub.
func (s *story) silence(direction *bool) {
	awaitAction(s.t, s.hub, proposeText(s.t, s.hub, "true")) // the present connection lives
	s.proxy.set(func() { *direction = true })
	deadline := time.Now().Add(2 * time.Minute)
	for tick := time.NewTicker(5 * time.Millisecond); s.hub.RunnerConnected("p"); <-tick.C {
		if time.Now().After(deadline) {
			s.t.Fatal("a dead connection was never given up")
		}
	}
	s.proxy.set(func() { *direction = false })
}
