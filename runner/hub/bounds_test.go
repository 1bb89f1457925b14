package hub

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// TestBodiesAreBounded sends each route that takes a body one that is too large.
func TestBodiesAreBounded(t *testing.T) {
	h := newRuledHub(t)
	d := readDescription(t)
	large := strings.Repeat(" ", int(h.c.MaxBody)) + "{}"
	tried := 0
	for _, r := range h.api() {
		takes := d.Paths[r.path][strings.ToLower(r.method)].RequestBody
		if takes == nil {
			continue
		}
		tried++
		mine := h.propose(t, "make")
		path := strings.NewReplacer("{id}", mine.ID, "{host}", "git.example").Replace(r.path)
		token := personToken
		if strings.HasSuffix(path, "/outcome") {
			token = agentToken
		}
		status, answer := h.do(t, r.method, path, token, large, func(q *http.Request) {
			for kind := range takes.Content {
				q.Header.Set("Content-Type", kind)
			}
		})
		want := http.StatusRequestEntityTooLarge
		if strings.HasPrefix(r.path, "/oauth/") {
			want = http.StatusBadRequest // in the standard's words
		}
		if status != want {
			t.Errorf("%s %s: %d %v", r.method, r.path, status, answer)
		}
		if a, err := h.Get(mine.ID); err != nil || a.Status != Pending {
			t.Errorf("%s %s: %+v, %v", r.method, r.path, a, err)
		}
	}
	if tried < 10 {
		t.Errorf("%d routes take a body", tried)
	}
}

// TestRetryAfterIsWhenTheNextProposalIsTaken looks at the header that goes with the refusal.
func TestRetryAfterIsWhenTheNextProposalIsTaken(t *testing.T) {
	h := serveHub(t, Config{Decider: byText{}, Rate: 1})
	for range 1000 { // a slow machine is refused later
		r, err := http.NewRequest("POST", h.url+"/actions", strings.NewReader(`{"projectId":"p","type":"terminal","command":"asks"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+agentToken)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, response.Body)
		if response.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if response.StatusCode == http.StatusCreated {
			continue
		}
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); response.StatusCode != http.StatusTooManyRequests || err != nil || seconds < 1 {
			t.Errorf("%d, again after %q", response.StatusCode, response.Header.Get("Retry-After"))
		}
		before := len(h.List(""))
		status, answer := h.do(t, "POST", "/actions", agentToken, `{"projectId":"p","type":"terminal","command":"asks"}`)
		if status == http.StatusTooManyRequests {
			failuretest.Produced(t, named(answer), failure.RateLimited)
			if n := len(h.List("")); n != before {
				t.Errorf("a proposal that was refused exists: %d actions instead of %d", n, before)
			}
		}
		return
	}
	t.Error("no limit")
}
