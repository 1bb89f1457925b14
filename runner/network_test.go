package runner

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"brabo.dev/runner/runner/control"
)

func TestChangeOfTheNetworkIsToldFromItsStandingStill(t *testing.T) {
	home, other := "192.0.2.7", "2001:db8::7"
	at := func(ips ...string) addresses {
		as := addresses{}
		for _, ip := range ips {
			as[ip] = true
		}
		return as
	}
	for _, c := range []struct {
		name     string
		readings []addresses // nil: it fails
		want     []bool      // what was told, gained or not
	}{
		{"as before", []addresses{at(home), at(home)}, nil},
		{"away", []addresses{at(home), at()}, []bool{false}},
		{"back", []addresses{at(), at(home)}, []bool{true}},
		{"another one too", []addresses{at(home), at(home, other)}, []bool{true}},
		{"one less", []addresses{at(home, other), at(home)}, []bool{false}},
		{"another one instead", []addresses{at(home), at(other)}, []bool{true}},
		{"away and back", []addresses{at(home), at(), at(home)}, []bool{false, true}},
		{"unreadable in between", []addresses{at(home), nil, at(home)}, nil},
		{"unreadable at first", []addresses{nil, at(home), at()}, []bool{false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			left := make(chan addresses, len(c.readings)+1)
			for _, r := range append(c.readings, c.readings[len(c.readings)-1]) {
				left <- r
			}
			read := func() (addresses, error) {
				r := <-left
				if r == nil {
					return nil, errors.New("not now")
				}
				return r, nil
			}
			var told []bool
			ticks := make(chan time.Time)
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan struct{})
			go func() {
				defer close(done)
				watchNetwork(ctx, ticks, read, func(gained bool) { told = append(told, gained) })
			}()
			for range c.readings { // one more than there are changes: a tick is taken only after the last was judged
				ticks <- time.Time{}
			}
			cancel()
			<-done
			if len(told) != len(c.want) {
				t.Fatalf("told %v, want %v", told, c.want)
			}
			for i := range told {
				if told[i] != c.want[i] {
					t.Errorf("told %v, want %v", told, c.want)
				}
			}
		})
	}
}

func TestAddressesOfThisMachineHoldNoLoopback(t *testing.T) {
	as, err := readAddresses()
	if err != nil || as["127.0.0.1"] || as["::1"] {
		t.Errorf("%v, %v", as, err)
	}
}

// TestNewNetworkCutsEveryWait has so many attempts fail that the waits between them would add up to half an hour.
func TestNewNetworkCutsEveryWait(t *testing.T) {
	e := newEngine(t)
	e.refuse = func(join int) string {
		if join <= 12 {
			return "unauthorized"
		}
		return ""
	}
	var refreshed atomic.Bool
	d := startDaemon(t, e, func(o *Options) {
		o.BackoffMax, o.Refresh = time.Hour, func() { refreshed.Store(true) }
	})
	timeout := time.After(time.Minute)
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		select {
		case <-e.ready:
			if !refreshed.Load() {
				t.Error("nobody was told to ask anew")
			}
			return
		case <-tick.C:
			d.m.networkChanged(true)
		case <-timeout:
			t.Fatal("the daemon did not join")
		}
	}
}

func TestSleepCutsTheWaitAfterARefusalToo(t *testing.T) {
	e := newEngine(t)
	e.refuse = func(join int) string {
		if join == 1 {
			return "closed on Sundays"
		}
		return ""
	}
	d := startDaemon(t, e)
	refused := await(t, d.m, "the refusal", func(s control.Status) bool { return project(s).State == control.Refused })
	d.m.suspends.tell()
	e.joined(t)
	if time.Now().After(project(refused).Until) {
		t.Error("it waited to the end")
	}
}

func TestNewNetworkDoesNotCutAWaitThatTheServerAskedFor(t *testing.T) {
	s := &session{m: New(Options{})}
	s.listen()
	s.m.networks.tell()
	if s.pause(context.Background(), time.Millisecond, false) {
		t.Error("the wait was cut")
	}
	if !s.pause(context.Background(), time.Hour, true) {
		t.Error("a wait of our own was not cut")
	}
}
