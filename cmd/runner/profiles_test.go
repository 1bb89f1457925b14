package main

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func TestProfilesAreServedOnLoopbackAlone(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.org:80", "6060", "127.0.0.1"} {
		_, err := openProfiles(address, slog.New(slog.DiscardHandler))
		failuretest.Produced(t, err, failure.ProfilesNotLoopback)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, err = openProfiles(taken.Addr().String(), slog.New(slog.DiscardHandler))
	failuretest.Produced(t, err, failure.ProfilesNotListening)
}

func TestProfilesAnswerThisMachineAndNoForeignName(t *testing.T) {
	var log bytes.Buffer
	p, err := openProfiles("127.0.0.1:0", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	url := regexp.MustCompile(`http://127[^ ]*/debug/pprof/`).FindString(log.String())
	for host, want := range map[string]int{"": http.StatusOK, "evil.example": http.StatusMisdirectedRequest} {
		r, err := http.NewRequest("GET", url+"goroutine?debug=1", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != want || bytes.Contains(body, []byte("goroutine profile")) != (want == http.StatusOK) {
			t.Errorf("%q: %s, %v, %.80s", host, resp.Status, err, body)
		}
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(url); err == nil {
		t.Error("it still answers")
	}
	if none, err := openProfiles("", nil); none != nil || err != nil || none.close() != nil {
		t.Error(none, err)
	}
}
