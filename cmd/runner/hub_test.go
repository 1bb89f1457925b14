package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/settings"
)

// hubProcess is `runner hub` in this process, with a folder of its own.
type hubProcess struct {
	url, token string
	stop       context.CancelFunc
	done       chan error
	log, said  bytes.Buffer // read them after the end only
}

func startHubCommand(t *testing.T, folder string, values settings.Hub) *hubProcess {
	t.Helper()
	opened, err := store.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &hubProcess{stop: stop, done: make(chan error, 1)}
	go func() {
		err := serveHub(ctx, settings.Folders{Home: t.TempDir()}, values, folder, opened, slog.New(slog.NewTextHandler(&p.log, nil)), &p.said)
		if closed := opened.Close(); err == nil {
			err = closed
		}
		p.done <- err
	}()
	t.Cleanup(stop)
	for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
		select {
		case err := <-p.done:
			t.Fatal(err)
		default:
		}
		raw, err := os.ReadFile(filepath.Join(folder, hubAddressFile))
		if err != nil {
			continue
		}
		var address hubAddress
		if err := json.Unmarshal(raw, &address); err != nil {
			t.Fatal(err)
		}
		token, err := os.ReadFile(filepath.Join(folder, hubTokenFile))
		if err != nil {
			t.Fatal(err)
		}
		p.url, p.token = address.URL, strings.TrimSpace(string(token))
		return p
	}
}

func (p *hubProcess) get(t *testing.T, path string) (int, string) {
	t.Helper()
	r, err := http.NewRequest("GET", p.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body.String()
}

func TestHubCommandLetsItsOwnerInAndStopsInOrder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "hub")
	values := settings.Hub{Listen: "127.0.0.1:0"}
	p := startHubCommand(t, folder, values)
	if status, body := p.get(t, "/me"); status != 200 || !strings.Contains(body, `"role":"owner"`) {
		t.Error(status, body)
	}
	if info, err := os.Stat(filepath.Join(folder, hubTokenFile)); err != nil || info.Mode().Perm() != 0o600 && os.PathSeparator == '/' {
		t.Error(info.Mode(), err)
	}
	p.stop()
	if err := <-p.done; err != nil {
		t.Error(err)
	}
	if strings.Contains(p.log.String(), p.token) || strings.Contains(p.log.String(), "code=") {
		t.Error("a secret is in the log")
	}
	if _, err := os.Stat(filepath.Join(folder, hubAddressFile)); !os.IsNotExist(err) {
		t.Errorf("the address is still there: %v", err)
	}
	again := startHubCommand(t, folder, values)
	if again.token != p.token {
		t.Error("another token after a restart")
	}
	again.stop()
	if err := <-again.done; err != nil {
		t.Error(err)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestHubThatCantListenSaysSo(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	opened, err := store.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	err = serveHub(context.Background(), settings.Folders{}, settings.Hub{Listen: taken.Addr().String()}, t.TempDir(), opened, slog.New(slog.DiscardHandler), nil)
	failuretest.Produced(t, err, failure.HubNotListening)
}

// TestHubKeepsEventsAsLongAsItIsTold starts over a log with old and new events, for ever and for a day.
func TestHubKeepsEventsAsLongAsItIsTold(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "hub")
	opened, err := store.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	err = opened.Update(func(tx store.Tx) error {
		for kind, age := range map[string]time.Duration{"a.year.old": 365 * 24 * time.Hour, "a.day.old": 25 * time.Hour, "new": 23 * time.Hour} {
			if err := tx.AddEvent(store.Event{At: now.Add(-age), Type: kind, ActorKind: "system", Actor: "hub", Payload: []byte(`{}`)}); err != nil {
				return err
			}
		}
		return nil
	})
	if closed := opened.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
	for _, c := range []struct {
		keep time.Duration
		left int
	}{{0, 3}, {24 * time.Hour, 1}, {0, 1}} {
		p := startHubCommand(t, folder, settings.Hub{Listen: "127.0.0.1:0", EventsKeep: c.keep})
		late := time.Now().Add(time.Minute)
		for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
			status, body := p.get(t, "/events?since=0")
			if n := strings.Count(body, `.old"`) + strings.Count(body, `"new"`); status == 200 && n == c.left && strings.Contains(body, `"new"`) {
				break
			}
			if time.Now().After(late) {
				t.Fatalf("keeping %v: %d %s", c.keep, status, body)
			}
		}
		p.stop()
		if err := <-p.done; err != nil {
			t.Error(err)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}
