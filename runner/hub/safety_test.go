package hub

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/hub/store"
	"brabo.dev/runner/runner/policy"
)

// TestAgentsTokenOpensNothingButProposals tries every route with the token of an agent. What it may is listed here, so
// that a new route is closed to agents until somebody writes it down.
func TestAgentsTokenOpensNothingButProposals(t *testing.T) {
	h := newRuledHub(t)
	open := map[string]bool{
		"GET /openapi.json": true, "GET /proof": true, "GET /me": true, "POST /actions": true, "GET /actions": true, "GET /actions/{id}": true,
		"GET /actions/{id}/output": true, "GET /actions/{id}/wait": true, "POST /actions/{id}/outcome": true,
	}
	own := map[string]bool{ // they look for a daemon's credential, which an agent's token is none
		"POST /projects/{id}/runner-ticket": true, "GET /runner/projects": true, "GET /runner/websocket": true,
		"POST /oauth/device_authorization": true, "POST /oauth/token": true,
	}
	mine, err := h.Propose(Proposal{ProjectID: "p", Type: "terminal", Command: "make"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range append(h.api(), h.pages()...) {
		name := r.method + " " + r.path
		if open[name] || name == "GET /login" {
			continue
		}
		path := strings.NewReplacer("{id}", mine.ID, "{host}", "git.example", "{$}", "", "{project}", "p").Replace(r.path)
		status, answer := h.do(t, r.method, path, agentToken, "{}")
		if own[name] {
			if status < 400 {
				t.Errorf("%s lets an agent in: %d %v", name, status, answer)
			}
			continue
		}
		if status != http.StatusForbidden {
			t.Errorf("%s as an agent: %d %v", name, status, answer)
		}
	}
	if a, err := h.Get(mine.ID); err != nil || a.Status != Pending {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestAgentSeesAndReportsItsOwnOnly(t *testing.T) {
	h := newRuledHub(t)
	h.permissions(t, `{"allow":["OpenAdrPr()"]}`)
	owner := Principal{Kind: kindPerson, ID: "ana", Role: policy.Owner}
	token, err := h.AddAgent(owner, "p", "dev-api")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := h.Propose(Proposal{ProjectID: "p", Type: "open_adr_pr"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ method, path string }{
		{"GET", "/actions/" + theirs.ID}, {"GET", "/actions/" + theirs.ID + "/output"}, {"POST", "/actions/" + theirs.ID + "/outcome"},
	} {
		status, answer := h.do(t, c.method, c.path, token, `{"ok":true}`)
		if status != http.StatusNotFound {
			t.Errorf("%s %s: %d %v", c.method, c.path, status, answer)
		}
		failuretest.Produced(t, named(answer), failure.ActionNotFound)
	}
	if _, answer := h.do(t, "GET", "/actions?agent=agent", token, ""); len(answer["actions"].([]any)) != 0 {
		t.Errorf("%v", answer)
	}
	if status, answer := h.do(t, "POST", "/actions", token, `{"projectId":"q","type":"terminal","command":"ls"}`); status != http.StatusNotFound {
		t.Errorf("in another project: %d %v", status, answer)
	}
	_, err = h.ReportOutcome(owner, theirs.ID, Executed, &Outcome{})
	failuretest.Produced(t, err, failure.Forbidden)
}

// signIn gives the member ana a browser's session.
func (h *testHub) signIn(t *testing.T, now time.Time) *http.Cookie {
	t.Helper()
	const secret = "cookie-of-the-test"
	err := h.store.Update(func(tx store.Tx) error {
		return tx.AddBrowserSession(store.Hash(secret), "ana", now, now.Add(time.Hour))
	})
	if err != nil {
		t.Fatal(err)
	}
	return &http.Cookie{Name: sessionCookie, Value: secret}
}

func TestCookieChangesNothingWithoutTheHeaderThatOtherSitesCantSend(t *testing.T) {
	h := newTestHub(t)
	a := h.propose(t, "asks")
	cookie := h.signIn(t, time.Now())
	with := func(change ...func(*http.Request)) func(*http.Request) {
		return func(r *http.Request) {
			r.AddCookie(cookie)
			for _, c := range change {
				c(r)
			}
		}
	}
	csrf := func(r *http.Request) { r.Header.Set(csrfHeader, "1") }
	evil := func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }
	for _, c := range []struct {
		name, method, path string
		change             func(*http.Request)
		status             int
	}{
		{"reads", "GET", "/actions", with(), 200},
		{"the page", "GET", "/", with(), 200},
		{"a form of another site", "POST", "/actions/" + a.ID + "/approve", with(), 403},
		{"another site that could send the header", "POST", "/actions/" + a.ID + "/approve", with(csrf, evil), 403},
		{"the page's own request", "POST", "/actions/" + a.ID + "/approve", with(csrf), 200},
		{"nobody sees the page", "GET", "/", func(*http.Request) {}, 401},
	} {
		if status, answer := h.do(t, c.method, c.path, "", "", c.change); status != c.status {
			t.Errorf("%s: %d, want %d: %v", c.name, status, c.status, answer)
		}
	}
	late := newTestHub(t)
	old := late.signIn(t, time.Now().Add(-2*time.Hour))
	if status, _ := late.do(t, "GET", "/actions", "", "", func(r *http.Request) { r.AddCookie(old) }); status != 401 {
		t.Errorf("an expired session: %d", status)
	}
}

func TestAgentThatProposesTooFastIsToldWhenToComeBack(t *testing.T) {
	h := serveHub(t, Config{Decider: byText{}, Rate: 1})
	const proposal = `{"projectId":"p","type":"terminal","command":"asks"}`
	refused := false
	for i := 0; i < 1000 && !refused; i++ { // a slow machine is refused later
		status, answer := h.do(t, "POST", "/actions", agentToken, proposal)
		if status == http.StatusTooManyRequests {
			failuretest.Produced(t, named(answer), failure.RateLimited)
			refused = true
		}
	}
	if !refused {
		t.Error("no limit")
	}
	for range 3 * burst {
		if status, _ := h.do(t, "POST", "/actions", personToken, proposal); status != 201 {
			t.Fatalf("a person is limited: %d", status)
		}
	}
	l := newLimits()
	now := time.Now()
	for range burst {
		if wait := l.take("a", 1, now); wait != 0 {
			t.Errorf("within the burst: %v", wait)
		}
	}
	if wait := l.take("a", 1, now); wait != time.Second {
		t.Errorf("the next one waits %v", wait)
	}
	if wait := l.take("b", 1, now); wait != 0 {
		t.Errorf("another agent waits %v", wait)
	}
}

func TestRevokedDaemonIsCutOffAndItsTicketsAreWorthless(t *testing.T) {
	h := newTestHub(t)
	owner := Principal{Kind: kindPerson, ID: "ana", Role: policy.Owner}
	r := h.runner(t)
	ticket, _ := h.tickets.issue("p", "token", time.Now())
	if err := h.RevokeDaemon(owner, "token"); err != nil {
		t.Fatal(err)
	}
	<-r.conn.Done()
	if _, usable := h.tickets.check(ticket, time.Now()); usable {
		t.Error("an unused ticket still works")
	}
	if status, _ := h.do(t, "POST", "/projects/p/runner-ticket", runnerToken, ""); status != 401 {
		t.Errorf("a revoked token gets a ticket: %d", status)
	}
	// A ticket that was on its way out while its credential was revoked opens nothing, either.
	if h.letsIn("token") || h.letsIn("nobody") || !h.letsIn("machine") {
		t.Error("revoked credentials join")
	}
}

// TestNobodyTakesTheNameOfSomebodyElsesAgent: the log would name the one for what the other does.
func TestNobodyTakesTheNameOfSomebodyElsesAgent(t *testing.T) {
	h := newTestHub(t)
	as := func(id string, role policy.Role) Principal { return Principal{Kind: kindPerson, ID: id, Role: role} }
	bia, eva, max := as("bia", policy.Developer), as("eva", policy.Developer), as("max", policy.Maintainer)
	for _, p := range []Principal{bia, eva, max} {
		if _, err := h.AddMember(Actor{kindPerson, "ana"}, p.ID, p.Role); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		by          Principal
		project, id string
		want        failure.Name
	}{
		{bia, "p", "coder", ""},
		{bia, "p", "coder", ""}, // a new token for the same one
		{eva, "p", "coder", failure.Forbidden},
		{eva, "", "coder", failure.Forbidden}, // one for every project would be it there too
		{eva, "q", "coder", ""},
		{eva, "", localAgent, failure.Forbidden},
		{eva, "p", localAgent, failure.Forbidden},
		{max, "p", "coder", ""},
	} {
		_, err := h.AddAgent(c.by, c.project, c.id)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s, %q, %s: %v", c.by.ID, c.project, c.id, err)
			}
			continue
		}
		failuretest.Produced(t, err, c.want)
	}
}
