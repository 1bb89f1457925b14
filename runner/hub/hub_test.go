package hub

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"go.uber.org/goleak"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
	"brabo.dev/runner/runner/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	agentToken  = "agent-token-of-the-test"
	personToken = "person-token-of-the-test"
	runnerToken = "brb_token-of-the-test-that-is-long-enough"
)

// byText decides by the command's text: what a test needs without a file of rules.
type byText struct{}

func (byText) Decide(_ Project, p Proposal) (policy.Decision, error) {
	switch {
	case strings.HasPrefix(p.Command, "allowed"):
		return policy.Decision{Policy: policy.AutoApprove, Rule: "file_allow", Reason: "an entry allows it"}, nil
	case strings.HasPrefix(p.Command, "denied"):
		return policy.Decision{Policy: policy.Deny, Rule: "file_deny", Reason: "an entry denies it"}, nil
	case strings.HasPrefix(p.Command, "broken"):
		return policy.Decision{}, failure.New(failure.PermissionsFileInvalid, "permissions.json")
	}
	return policy.Decision{Policy: policy.RequireApproval, Rule: "default", Reason: "nothing speaks about it"}, nil
}

// testHub is a hub that listens on loopback.
type testHub struct {
	*Hub
	url string
	key ed25519.PrivateKey // of the device key "machine"
}

func newTestHub(t *testing.T) *testHub {
	t.Helper()
	return serveHub(t, Config{Decider: byText{}})
}

// ruledHub decides by the rules.
type ruledHub struct {
	*testHub
	root string // of the project "p"
}

func newRuledHub(t *testing.T) *ruledHub {
	t.Helper()
	root := t.TempDir()
	return &ruledHub{serveHub(t, Config{Projects: []Project{{ID: "p", Name: "Shop", Mode: ModeMounted, Root: root}}}), root}
}

// permissions writes the file of the project "p"; none for an empty text.
func (h *ruledHub) permissions(t testing.TB, text string) {
	t.Helper()
	file := filepath.Join(h.root, policy.FileName)
	err := os.WriteFile(file, []byte(text), 0o600)
	if text == "" {
		err = os.Remove(file)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// serveHub completes a configuration and serves it.
func serveHub(t testing.TB, c Config) *testHub {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	if c.Projects == nil {
		c.Projects = []Project{{ID: "p", Name: "Shop", Mode: ModeMounted, Root: t.TempDir()}, {ID: "q", Mode: ModeMounted, Root: t.TempDir()}}
	}
	c.Credentials = []Credential{
		{ID: "token", Project: "p", Token: runnerToken}, {ID: "machine", Key: public}, {ID: "bound", Project: "q", Key: public},
	}
	c.AgentToken, c.PersonToken, c.Person = agentToken, personToken, "ana"
	c.ActionDeadline, c.MaxBody = time.Minute, 64<<10
	c.Hosts, c.Log = []string{server.Listener.Addr().String(), "localhost"}, slog.New(slog.DiscardHandler)
	h, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	server.Config.ConnContext = ConnContext
	server.Config.Handler = h
	server.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := h.Close(ctx); err != nil {
			t.Error(err)
		}
		server.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return &testHub{h, server.URL, private}
}

// do makes one request and decodes its answer.
func (h *testHub) do(t *testing.T, method, path, token, body string, change ...func(*http.Request)) (int, map[string]any) {
	t.Helper()
	r, err := http.NewRequest(method, h.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for _, c := range change {
		c(r)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if json.Unmarshal(raw, &got) != nil {
		got = map[string]any{"raw": string(raw)}
	}
	return resp.StatusCode, got
}

// named gives the name of the failure in an answer.
func named(answer map[string]any) failure.Name {
	f, _ := answer["failure"].(map[string]any)
	name, _ := f["name"].(string)
	return failure.Name(name)
}

func (h *testHub) sign(t *testing.T, kid string, claims any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: h.key}, (&jose.SignerOptions{}).WithHeader("kid", kid))
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	jws, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestForeignHostsAndOriginsAreRefused(t *testing.T) {
	h := newTestHub(t)
	for _, c := range []struct {
		name   string
		change func(*http.Request)
		status int
	}{
		{"the hub's own address", func(*http.Request) {}, 200},
		{"a name that is listed, on any port", func(r *http.Request) { r.Host = "localhost:1234" }, 200},
		{"a page that rebound its name", func(r *http.Request) { r.Host = "evil.example" }, 421},
		{"a name that begins alike", func(r *http.Request) { r.Host = "localhost.evil.example" }, 421},
		{"no host", func(r *http.Request) { r.Host = ":80" }, 421},
		{"the hub's own page", func(r *http.Request) { r.Header.Set("Origin", h.url) }, 200},
		{"a page of another port", func(r *http.Request) { r.Header.Set("Origin", "http://localhost") }, 403},
		{"another site's page", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		{"a page without a site", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		{"an empty origin", func(r *http.Request) { r.Header.Set("Origin", "") }, 403},
		{"two origins", func(r *http.Request) { r.Header["Origin"] = []string{"http://localhost", "https://evil.example"} }, 403},
	} {
		for _, path := range []string{"/actions"} {
			status, answer := h.do(t, "GET", path, personToken, "", c.change)
			if status != c.status {
				t.Errorf("%s: %d, want %d: %v", c.name, status, c.status, answer)
			}
			if status >= 400 {
				failuretest.Produced(t, named(answer), failure.HostRefused)
			}
		}
	}
}

func TestDoorsAskForTheirToken(t *testing.T) {
	h := newTestHub(t)
	pending, err := h.Propose(Proposal{ProjectID: "p", Type: "terminal", Command: "asks"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path, token string
		status              int
	}{
		{"GET", "/actions", "", 401},
		{"GET", "/actions", "wrong", 401},
		{"GET", "/actions", runnerToken, 401},
		{"GET", "/actions", agentToken, 200},
		{"GET", "/actions/" + pending.ID, agentToken, 200},
		{"POST", "/actions/" + pending.ID + "/approve", agentToken, 403},
		{"POST", "/actions/" + pending.ID + "/deny", agentToken, 403},
		{"POST", "/actions/" + pending.ID + "/cancel", agentToken, 403},
	} {
		status, answer := h.do(t, c.method, c.path, c.token, "{}")
		if status != c.status {
			t.Errorf("%s %s as %q: %d, want %d", c.method, c.path, c.token, status, c.status)
		}
		switch status {
		case 401:
			failuretest.Produced(t, named(answer), failure.Unauthorized)
		case 403:
			failuretest.Produced(t, named(answer), failure.Forbidden)
		}
	}
	if a, _ := h.Get(pending.ID); a.Status != Pending {
		t.Errorf("an agent decided: %s", a.Status)
	}
}

func TestTicketIsIssuedToWhoMayServeTheProject(t *testing.T) {
	h := newTestHub(t)
	now := time.Now().Unix()
	project := func(id string, iat, exp int64) map[string]any {
		return map[string]any{"iat": iat, "exp": exp, "projectId": id}
	}
	for _, c := range []struct {
		name, path, credential string
		status                 int
		want                   failure.Name
	}{
		{"token", "p", runnerToken, 201, ""},
		{"device key of the machine", "p", h.sign(t, "machine", project("p", now, now+60)), 201, ""},
		{"device key of the project", "q", h.sign(t, "bound", project("q", now, now+30)), 201, ""},
		{"nothing", "p", "", 401, failure.TicketRefused},
		{"unknown token", "p", "brb_unknown-token-that-is-long-enough", 401, failure.CredentialUnknown},
		{"token of another project", "q", runnerToken, 403, failure.NotMember},
		{"key of another project", "p", h.sign(t, "bound", project("p", now, now+60)), 403, failure.NotMember},
		{"claim of another project", "p", h.sign(t, "machine", project("q", now, now+60)), 403, failure.NotMember},
		{"no project claimed", "p", h.sign(t, "machine", map[string]any{"iat": now, "exp": now + 60}), 403, failure.NotMember},
		{"unknown project", "nowhere", h.sign(t, "machine", project("nowhere", now, now+60)), 404, failure.ProjectNotFound},
		{"unknown key", "p", h.sign(t, "stranger", project("p", now, now+60)), 401, failure.CredentialUnknown},
		{"expired", "p", h.sign(t, "machine", project("p", now-120, now-60)), 401, failure.CredentialExpired},
		{"lives too long", "p", h.sign(t, "machine", project("p", now, now+61)), 401, failure.TicketRefused},
		{"from the future", "p", h.sign(t, "machine", project("p", now+600, now+630)), 401, failure.CredentialExpired},
		{"no lifetime", "p", h.sign(t, "machine", map[string]any{"projectId": "p"}), 401, failure.TicketRefused},
		{"tampered", "p", h.sign(t, "machine", project("p", now, now+60)) + "A", 401, failure.TicketRefused},
	} {
		status, answer := h.do(t, "POST", "/projects/"+c.path+"/runner-ticket", c.credential, "")
		if status != c.status {
			t.Errorf("%s: %d, want %d: %v", c.name, status, c.status, answer)
			continue
		}
		if status == 201 {
			ticket, _ := answer["ticket"].(string)
			if len(ticket) != 43 || !strings.HasPrefix(answer["engineWsUrl"].(string), "ws://127.0.0.1:") {
				t.Errorf("%s: %v", c.name, answer)
			}
			continue
		}
		failuretest.Produced(t, named(answer), c.want)
		if answer["message"] == "" {
			t.Errorf("%s: no message", c.name)
		}
	}
}

func TestProjectsAreListedForAMachineKeyOnly(t *testing.T) {
	h := newTestHub(t)
	now := time.Now().Unix()
	lifetime := map[string]any{"iat": now, "exp": now + 60}
	status, answer := h.do(t, "GET", "/runner/projects", h.sign(t, "machine", lifetime), "")
	if status != 200 || !strings.Contains(answer["raw"].(string), `"projectId":"p"`) || !strings.Contains(answer["raw"].(string), `"mode":"mounted"`) {
		t.Errorf("%d %v", status, answer)
	}
	for name, credential := range map[string]string{
		"token":          runnerToken,
		"project key":    h.sign(t, "bound", lifetime),
		"project claims": h.sign(t, "machine", map[string]any{"iat": now, "exp": now + 60, "projectId": "p"}),
	} {
		if status, answer := h.do(t, "GET", "/runner/projects", credential, ""); status != 403 {
			t.Errorf("%s: %d %v", name, status, answer)
		}
	}
	if status, _ := h.do(t, "GET", "/runner/projects", "", ""); status != 401 {
		t.Errorf("without a credential: %d", status)
	}
}

func TestTicketIsUsedOnceAndExpires(t *testing.T) {
	var ts tickets
	now := time.Now()
	text, expires := ts.issue("p", "token", now)
	if got := expires.Sub(now); got != ticketLife {
		t.Errorf("lives %v", got)
	}
	if _, ok := ts.check(text, now); !ok {
		t.Error("a fresh ticket is unknown")
	}
	if ts.use(text, "q", now) {
		t.Error("used for another project")
	}
	if _, ok := ts.check(text, expires); ok {
		t.Error("an expired ticket passes")
	}
	if !ts.use(text, "p", now) || ts.use(text, "p", now) {
		t.Error("a ticket is for one use")
	}
	for range maxTickets + 10 {
		ts.issue("p", "token", now)
	}
	if len(ts.held) > maxTickets || len(ts.order) != len(ts.held) {
		t.Errorf("%d held, %d in order", len(ts.held), len(ts.order))
	}
}
