package hub

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/channel"
	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// TestAttackPageOfAnotherSite has a page in the owner's browser try every route, as a site that rebound its name to this
// machine and as one that is named as itself. The cookie and the token that it could not even have do not help it.
func TestAttackPageOfAnotherSite(t *testing.T) {
	h := newTestHub(t)
	pending := h.propose(t, "asks")
	cookie := h.signIn(t, time.Now())
	for tried, change := range map[string]func(*http.Request){
		"a name that was rebound":        func(r *http.Request) { r.Host = "evil.example:4680" },
		"a name that ends in a good one": func(r *http.Request) { r.Host = "evil.localhost" },
		"a request across sites":         func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"a page of another port":         func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:23999") },
		"a page without a port":          func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1") },
		"a page by another name of here": func(r *http.Request) { r.Header.Set("Origin", "http://localhost:"+r.URL.Port()) },
		"a page in a sandbox":            func(r *http.Request) { r.Header.Set("Origin", "null") },
		"the same host by another door":  func(r *http.Request) { r.Header.Set("Origin", "http://localhost.evil.example") },
	} {
		for _, route := range append(h.api(), h.pages()...) {
			path := strings.NewReplacer("{id}", pending.ID, "{host}", "git.example", "{$}", "", "{project}", "p").Replace(route.path)
			status, answer := h.do(t, route.method, path, personToken, "{}", change, func(r *http.Request) {
				r.AddCookie(cookie)
				r.Header.Set(csrfHeader, "1")
			})
			if status != http.StatusForbidden && status != http.StatusMisdirectedRequest || named(answer) != failure.HostRefused {
				t.Errorf("%s: %s %s: %d %v", tried, route.method, route.path, status, answer)
			}
		}
	}
	if a, err := h.Get(pending.ID); err != nil || a.Status != Pending {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestAttackSocketOfAnotherSite has a page open the daemon's socket with a ticket that is good: the ticket is not even
// looked at, and still good for the daemon.
func TestAttackSocketOfAnotherSite(t *testing.T) {
	h := newTestHub(t)
	ticket, _ := h.tickets.issue("p", "token", time.Now())
	upgrade := func(r *http.Request) {
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Upgrade", "websocket")
		r.Header.Set("Sec-WebSocket-Version", "13")
		r.Header.Set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
		r.Header.Set("Origin", "https://evil.example")
	}
	path := "/runner/websocket?vsn=2.0.0&ticket=" + ticket
	if status, answer := h.do(t, "GET", path, "", "", upgrade); status != http.StatusForbidden {
		t.Errorf("%d %v", status, answer)
	}
	conn, err := (&channel.Dialer{}).Dial(t.Context(), h.url+path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, _, err := conn.Join(t.Context(), "terminal:p", action.NewJoin([]string{"exec"}, nil)); err != nil {
		t.Error(err)
	}
}

// TestAttackProposalThatDecidesAboutItself has an agent write into its proposal what only the hub may say. Such a field is
// refused or counts for nothing.
func TestAttackProposalThatDecidesAboutItself(t *testing.T) {
	h := newRuledHub(t)
	for _, extra := range []string{
		`"status":"approved"`, `"status":"auto_approved"`, `"decidedBy":"ana"`, `"decision":{"kind":"human","by":"ana"}`, `"policy":"auto_approve"`,
		`"role":"owner"`, `"agent":"somebody"`, `"kind":"person"`, `"rule":"file_allow"`, `"autonomy":"auto_approve"`, `"approved":true`,
		`"projectId":"p","type":"terminal","env":{"BASH_ENV":"x"}`, `"permissions":{"allow":["Terminal(*)"]}`, `"alwaysAllow":true`,
	} {
		status, answer := h.do(t, "POST", "/actions", agentToken, `{"projectId":"p","type":"terminal","command":"make",`+extra+`}`)
		if status/100 == 4 {
			continue
		}
		made, _ := answer["action"].(map[string]any)
		if made == nil {
			made = answer
		}
		a, err := h.Get(made["id"].(string))
		if err != nil || a.Status != Pending || a.DecidedBy != nil || a.ProposedBy.ID == "somebody" {
			t.Errorf("%s: %+v, %v", extra, a, err)
		}
	}
}

// TestAttackResultFromAnotherProject has the daemon of one project report about another's action.
func TestAttackResultFromAnotherProject(t *testing.T) {
	h := newTestHub(t)
	r := h.runner(t, action.Known()...)
	a := h.propose(t, "allowed")
	if m := r.exec(t); m.Ref != a.ID {
		t.Fatalf("%+v", m)
	}
	ticket, _ := h.tickets.issue("q", "bound", time.Now())
	conn, err := (&channel.Dialer{}).Dial(t.Context(), h.url+"/runner/websocket?vsn=2.0.0&ticket="+ticket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, _, err := conn.Join(t.Context(), "terminal:p", action.NewJoin([]string{"exec"}, nil)); err == nil {
		t.Error("it joined another project")
	}
	ticket, _ = h.tickets.issue("q", "bound", time.Now())
	other, err := (&channel.Dialer{}).Dial(t.Context(), h.url+"/runner/websocket?vsn=2.0.0&ticket="+ticket)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	ch, _, err := other.Join(t.Context(), "terminal:q", action.NewJoin([]string{"exec"}, action.Known()))
	if err != nil {
		t.Fatal(err)
	}
	// It is acknowledged, since it must not come for ever, and counts for nothing.
	if _, err := ch.Call(context.Background(), action.EventExecResult, action.ExecResult{Ref: a.ID, Output: "forged"}); err != nil {
		t.Error(err)
	}
	if got, err := h.Get(a.ID); err != nil || got.Outcome != nil {
		t.Errorf("%+v, %v", got, err)
	}
	r.finish(t, a.ID, 0)
	if got := h.wait(t, a.ID); got.Outcome.Output != "out" {
		t.Errorf("%+v", got.Outcome)
	}
}

// TestAttackRulesThatAreSwappedDuringADecision changes the file between two sets of rules, each of which denies, while
// agents propose: no proposal finds a moment without rules.
func TestAttackRulesThatAreSwappedDuringADecision(t *testing.T) {
	h := newRuledHub(t)
	file := filepath.Join(h.root, policy.FileName)
	rules := []string{
		`{"allow":["Terminal(*)"],"deny":["Terminal(make)"]}`,
		`{"allow":["Terminal(make)","Terminal(*)"],"deny":["Terminal(make)"]` + strings.Repeat(" ", 50_000) + `}`,
	}
	swap := func(i int) error {
		next := file + ".next"
		if err := os.WriteFile(next, []byte(rules[i%2]), 0o600); err != nil {
			return err
		}
		return os.Rename(next, file)
	}
	if err := swap(0); err != nil {
		t.Fatal(err)
	}
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 1; ; i++ {
			select {
			case <-stop:
				ended <- nil
				return
			default:
				if err := swap(i); err != nil {
					ended <- err
					return
				}
			}
		}
	}()
	for range 100 {
		if a := h.propose(t, "make all"); a.Status != Denied {
			t.Errorf("%s: %s", a.Status, a.Reason)
		}
	}
	close(stop)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestAttackRightsThatAnAgentGivesItself has an agent try every door to a rule, a role or a token of its own making.
func TestAttackRightsThatAnAgentGivesItself(t *testing.T) {
	h := newRuledHub(t)
	owner := Principal{Kind: kindPerson, ID: "ana", Role: policy.Owner}
	token, err := h.AddAgent(owner, "p", "dev")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range h.api() {
		if r.method == http.MethodGet || r.path == "/actions" || strings.HasSuffix(r.path, "/outcome") || r.may == nil {
			continue
		}
		path := strings.NewReplacer("{id}", "p", "{host}", "git.example", "{project}", "p").Replace(r.path)
		body := `{"projectId":"p","id":"dev","name":"dev","agent":"dev","agentId":"dev","role":"owner","type":"terminal","mode":"auto_approve","token":"x","username":"x"}`
		status, answer := h.do(t, r.method, path, token, body)
		if status != http.StatusForbidden {
			t.Errorf("%s %s: %d %v", r.method, r.path, status, answer)
			continue
		}
		failuretest.Produced(t, named(answer), failure.Forbidden)
	}
	// Its rules are the project's file, which is written only with a person's word.
	for _, path := range []string{"permissions.json", "sub/../permissions.json", "./permissions.json", "PERMISSIONS.JSON"} {
		h.permissions(t, `{"allow":["WriteFile(*)"]}`)
		status, answer := h.do(t, "POST", "/actions", token, `{"projectId":"p","type":"write_file","params":{"path":"`+path+`","content":"{}"}}`)
		if status/100 == 4 {
			continue
		}
		made, _ := answer["action"].(map[string]any)
		if made == nil {
			made = answer
		}
		if a, err := h.Get(made["id"].(string)); err != nil || a.Status != Pending {
			t.Errorf("%s: %s, %v", path, a.Status, err)
		}
	}
	_ = h.store.View(func(tx store.Tx) error {
		rows, err := tx.AutonomyFor("p", "dev", "terminal")
		if err != nil || len(rows) > 0 {
			t.Errorf("%v, %v", rows, err)
		}
		return nil
	})
}
