package runner

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/pairing"
	"brabo.dev/runner/workspace"
)

func TestRefusalsAreToldApart(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		want   failure.Name
		after  time.Duration
		person bool
	}{
		{"ticket", failure.New(failure.TicketRefused, "p"), failure.TicketRefused, slowly, true},
		{"revoked", failure.New(failure.CredentialRevoked, "p"), failure.CredentialRevoked, slowly, true},
		{"role", failure.New(failure.NotMember, "p"), failure.NotMember, slowly, true},
		{"rate", failure.New(failure.RateLimited, "p").Wrap(&pairing.StatusError{Status: 429, RetryAfter: 7 * time.Second}), failure.RateLimited, 7 * time.Second, false},
		{"server down", failure.New(failure.ServerUnavailable, "p"), failure.ServerUnavailable, 0, false},
		{"upgrade", &channel.RefusedError{Status: 503, Header: http.Header{"Retry-After": {"9"}}}, failure.UpgradeRefused, 9 * time.Second, false},
		{"second runner", &channel.JoinError{Status: "error", Response: []byte(`{"reason":"já existe um runner conectado a este projeto"}`)}, failure.SecondRunner, secondRunnerWait, true},
		{"capability", &channel.JoinError{Status: "error", Response: []byte("{\"reason\":\"este projeto exige a(s) capacidade(s) `espelho`, que …\"}")}, failure.CapabilityMissing, slowly, true},
		{"spent ticket", &channel.JoinError{Status: "error", Response: []byte(`{"reason":"unauthorized"}`)}, failure.JoinRefused, 0, false},
		{"another reason", &channel.JoinError{Status: "error", Response: []byte(`{"reason":"closed on Sundays"}`)}, failure.JoinRefused, slowly, true},
		{"no reason", &channel.JoinError{Status: "error", Response: []byte(`[]`)}, failure.JoinRefused, slowly, true},
		{"no answer to the join", context.DeadlineExceeded, failure.JoinTimeout, 0, false},
		{"a proxy", &channel.EndError{Reason: channel.EndNetwork, Err: &channel.ProxyError{Proxy: "p:3128", Status: 407}}, failure.ProxyRefused, 0, false},
		{"heartbeat", &channel.EndError{Reason: channel.EndHeartbeatLost}, failure.HeartbeatLost, 0, false},
		{"protocol", &channel.EndError{Reason: channel.EndProtocolError}, failure.ProtocolError, 0, false},
		{"size", &channel.EndError{Reason: channel.EndReadLimit}, failure.ReadLimit, 0, false},
		{"drain", &channel.EndError{Reason: channel.EndClosedByServer, Code: 1012}, failure.ServerDraining, 0, false},
		{"close", &channel.EndError{Reason: channel.EndClosedByServer, Code: 1001}, failure.ConnectionLost, 0, false},
		{"crash", &channel.ChannelError{End: channel.ChannelCrashed}, failure.ConnectionLost, 0, false},
		{"nobody there", &net.OpError{Op: "dial", Err: errors.New("connection refused")}, failure.ServerUnreachable, 0, false},
	} {
		got := judge(c.err, "p")
		if got.after != c.after || got.person != c.person {
			t.Errorf("%s: %+v", c.name, got)
		}
		failuretest.Produced(t, got.fail, c.want)
	}
}

func TestRetryAfterIsReadInBothForms(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"": 0, "soon": 0, "-5": 0, "30": 30 * time.Second, "999999": time.Hour,
		time.Now().Add(48 * time.Hour).UTC().Format(http.TimeFormat): time.Hour,
		time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat):     0,
	} {
		if got := headerRetryAfter(http.Header{"Retry-After": {value}}); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

func TestRefusedUpgradesAreNamedAndTriedAgain(t *testing.T) {
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		says    string
	}{
		{"401", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "401"},
		{"403", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, "403"},
		{"404", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, "404"},
		{"503", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, "503"},
		{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) }, "302"},
		{"a page", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>portal</html>")) }, "200"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tries := make(chan struct{}, 100)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				select {
				case tries <- struct{}{}:
				default:
				}
				c.handler(w, r)
			}))
			t.Cleanup(server.Close)
			e := &engine{Server: server}
			d := startDaemon(t, e)
			for range 2 {
				<-tries
			}
			d.stop()
			if err := d.wait(t); err != nil {
				t.Error(err)
			}
			log := d.log.String()
			if !strings.Contains(log, `"name":"upgrade_refused"`) || !strings.Contains(log, c.says) {
				t.Error(log)
			}
		})
	}
}

func TestSecondRunnerIsTriedAgainBeforeItIsAConflict(t *testing.T) {
	s := &session{}
	r := refusal{fail: failure.New(failure.SecondRunner, "p"), after: secondRunnerWait, person: true}
	began := time.Now()
	since := s.patience(&r, time.Time{}, began)
	if r.person || r.after != secondRunnerWait {
		t.Errorf("a conflict at once: %+v", r)
	}
	r.person = true
	if s.patience(&r, since, began.Add(secondRunnerFor)); !r.person || r.after != slowly {
		t.Errorf("never a conflict: %+v", r)
	}
	other := refusal{fail: failure.New(failure.ConnectionLost, "p")}
	if since := s.patience(&other, since, began); !since.IsZero() {
		t.Error("another failure did not end the row")
	}
}

func TestRefusedJoinIsTriedAgain(t *testing.T) {
	e := newEngine(t)
	e.refuse = func(join int) string {
		if join < 3 {
			return "unauthorized"
		}
		return ""
	}
	d := startDaemon(t, e)
	e.joined(t)
	if n := strings.Count(d.log.String(), `"name":"join_refused"`); n != 2 {
		t.Errorf("%d refusals were logged", n)
	}
}

func TestRefusalThatNeedsAPersonEndsAForegroundRunThatNeverJoined(t *testing.T) {
	e := newEngine(t)
	e.refuse = func(int) string { return "closed on Sundays" }
	d := startDaemon(t, e, func(o *Options) { o.LeaveOnRefusal = true })
	failuretest.Produced(t, d.wait(t), failure.JoinRefused)
}

func TestFolderThatCannotBeMadeEndsTheSessionByName(t *testing.T) {
	e := newEngine(t)
	d := startDaemon(t, e, func(o *Options) { o.Folder = workspace.Options{Roots: []string{"/elsewhere"}} })
	failuretest.Produced(t, d.wait(t), failure.RootNotAllowed)
}

func TestPathThatTheServerWouldRefuseIsNotConfirmedAndTheSessionServesOn(t *testing.T) {
	for _, c := range []struct {
		name      string
		grants    []action.Extension
		confirmed bool
	}{{"a server without extensions", nil, false}, {"one with", action.Known(), true}} {
		t.Run(c.name, func(t *testing.T) {
			base, err := os.MkdirTemp("/var/tmp", "runner-test-")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(base) })
			e := newEngine(t, c.grants...)
			d := startDaemonIn(t, e, base)
			e.joined(t)
			e.exec(t, "a", "echo served", "")
			confirmed := false
			for done := false; !done; {
				switch msg := <-e.heard; msg.Event {
				case action.EventWorkspaceConfirm:
					confirmed = true
				case action.EventExecResult:
					done = true
				}
			}
			if shown := strings.Contains(d.log.String(), `"name":"root_not_confirmable"`); confirmed != c.confirmed || shown == c.confirmed {
				t.Errorf("confirmed %v, failure shown %v", confirmed, shown)
			}
		})
	}
}
